import Foundation
import HeartwoodTesting
import TestSupport
import Testing

/// The command as it runs: a process that serves on the loopback interface until it is interrupted.
struct BrowseCommandTests {
  @Test(.enabled(if: PythonReader.exists))
  func itServesUntilItIsInterrupted() throws {
    let output = try run(Self.client, in: try ScratchFolder())
    #expect(output == "served 1 record; refused 401 421 403; ended 0\n")
  }

  @Test(.enabled(if: PythonReader.exists))
  func itChangesAStoreOnlyIfItMay() throws {
    let scratch = try ScratchFolder()
    #expect(try run(Self.editor, in: scratch) == "refused 403 401 403; saved 1 milk; ended 0\n")
    let saved = try String(contentsOf: scratch.url.appending(path: "todo.csv"), encoding: .utf8)
    let copied = try String(contentsOf: scratch.url.appending(path: "todo.csv.backup"), encoding: .utf8)
    #expect(saved.contains("oat milk") && !copied.contains("oat") && copied.contains("milk"))
  }

  /// Runs a client of a CSV file with one record, and returns what it prints.
  private func run(_ program: String, in scratch: ScratchFolder) throws -> String {
    try scratch.write(
      "#D35CF030-1EC1-4667-9666-70C8247A1010\n0, milk, 1, 2016-09-17 18:15:00 +0000, E899556C-BE1A-42A3-A634-000000000001\n",
      to: "todo.csv"
    )
    let model = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .appending(path: "Examples/ToDo/ToDo.xcdatamodeld/ToDo.xcdatamodel")
    let client = try PythonReader.run(
      program: program,
      [try BuiltExecutable.url(named: "heartwood").path, scratch.url.appending(path: "todo.csv").path, model.path]
    )
    #expect(client.status == 0, "\(client.errors)")
    return String(decoding: client.output, as: UTF8.self)
  }

  /// Starts the command, asks with and without what it takes, looks at which addresses it listens, and ends it as Ctrl-C does.
  private static let client = """
    import http.client, json, re, signal, subprocess, sys

    tool = subprocess.Popen([sys.argv[1], "browse", sys.argv[2], "--model", sys.argv[3], "--no-open"], stdout=subprocess.PIPE, text=True)
    try:
        address = tool.stdout.readline().strip()
        port, token = re.fullmatch(r"http://127\\.0\\.0\\.1:(\\d+)/#t=([\\w-]{22})", address).groups()

        def ask(path, headers={}, body=None):
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
            connection.request("POST" if body else "GET", path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            return answer.status, content

        right = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
        status, page = ask("/")
        assert status == 200 and b"browse.js" in page, (status, page)
        status, rows = ask("/api/stores/0/rows", right, json.dumps({"entity": "ToDo"}))
        assert status == 200, rows
        count = json.loads(rows)["count"]
        refused = [ask("/api/stores")[0], ask("/", {"Host": "evil.example:" + port})[0],
                   ask("/api/stores", {**right, "Origin": "http://evil.example"})[0]]
        if sys.platform == "linux":
            listening = [line.split() for line in open("/proc/net/tcp")][1:]
            hosts = {part[1].split(":")[0] for part in listening if part[3] == "0A" and int(part[1].split(":")[1], 16) == int(port)}
            assert hosts == {"0100007F"}, hosts
        tool.send_signal(signal.SIGINT)
        print("served", count, "record; refused", *refused, end="; ")
        print("ended", tool.wait(60))
    finally:
        tool.kill()

    """

  /// Tries to change a record without --write, without a token and without an origin; then it changes and saves it.
  private static let editor = """
    import http.client, json, signal, subprocess, sys

    def begin(*options):
        command = [sys.argv[1], "browse", sys.argv[2], "--model", sys.argv[3], "--no-open", *options]
        tool = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        base, token = tool.stdout.readline().strip().split("/#t=")
        return tool, base, {"Authorization": "Bearer " + token, "Content-Type": "application/json", "Origin": base}

    def ask(base, path, headers, question=None):
        connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=60)
        body = None if question is None else json.dumps(question)
        connection.request("GET" if body is None else "POST", "/api/stores" + path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, json.loads(content)

    tool, base, headers = begin()
    refused = [ask(base, "/0/edits/insert", headers, {"entity": "ToDo"})[0]]
    tool.send_signal(signal.SIGINT)
    tool.wait(60)
    tool, base, headers = begin("--write")
    try:
        stores = ask(base, "", headers)[1]
        headers["X-Heartwood-Edits"] = stores[0]["editing"]
        for name in ["Authorization", "Origin"]:
            rest = {key: value for key, value in headers.items() if key != name}
            refused.append(ask(base, "/0/edits/insert", rest, {"entity": "ToDo"})[0])
        rows = ask(base, "/0/rows", headers, {"entity": "ToDo"})[1]["rows"]
        status, answer = ask(base, "/0/edits/set", headers, {"uri": rows[0]["uri"], "name": "memo", "text": "oat milk"})
        assert status == 200, answer
        status, answer = ask(base, "/0/edits/save", headers, {})
        assert status == 200 and answer["state"]["backup"] == sys.argv[2] + ".backup", answer
        tool.send_signal(signal.SIGINT)
        print("refused", *refused, end="; saved ")
        print(len(rows), "milk; ended", tool.wait(60))
    finally:
        tool.kill()

    """
}
