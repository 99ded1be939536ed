import Dispatch
import HeartwoodBrowser
import HeartwoodFoundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Serves HTTP/1.1 on the loopback interface, and nowhere else: one request for each connection, for the few that a page on the same machine has.
struct LoopbackServer: Sendable {
  /// The port that it listens at.
  let port: UInt16
  private let listener: CInt
  private let queue = DispatchQueue(label: "Heartwood.LoopbackServer", attributes: .concurrent)
  private let connections = DispatchSemaphore(value: connectionLimit)

  private static let connectionLimit = 32
  /// How long a request may take to arrive, and its answer to be taken, in seconds.
  private static let timeout = 15
  private static let headLimit = 1 << 16

  /// Listens at a port; 0 takes one that is free.
  init(port: UInt16) throws {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = CInt(SOCK_STREAM.rawValue)
    #endif
    let listener = socket(AF_INET, kind, 0)
    guard listener >= 0 else { throw Self.failure(port) }
    Self.set(SO_REUSEADDR, CInt(1), of: listener)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isBound, listen(listener, CInt(Self.connectionLimit)) == 0, let found = Self.port(of: listener) else {
      let error = Self.failure(port)
      close(listener)
      throw error
    }
    self.port = found
    self.listener = listener
  }

  private static func failure(_ port: UInt16) -> ToolError {
    ToolError("Port \(port) cannot be served: \(String(cString: strerror(errno))). Choose another with --port.")
  }

  private static func port(of socket: CInt) -> UInt16? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) == 0 }
    }
    return isKnown ? UInt16(bigEndian: address.sin_port) : nil
  }

  private static func set<Value>(_ option: CInt, _ value: Value, of socket: CInt) {
    withUnsafeBytes(of: value) { _ = setsockopt(socket, SOL_SOCKET, option, $0.baseAddress, socklen_t($0.count)) }
  }

  // MARK: Requests

  /// Answers requests until the process ends. It returns at once.
  ///
  /// - Parameter bodyLimit: how many bytes the content of a request may have.
  func run(bodyLimit: Int, answer: @escaping @Sendable (BrowserRequest) async -> BrowserResponse) {
    queue.async {
      while true {
        connections.wait()
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else {
          connections.signal()
          if errno == EINTR || errno == ECONNABORTED || errno == EMFILE { continue }
          return
        }
        queue.async { serve(connection, bodyLimit, answer) }
      }
    }
  }

  private func serve(
    _ connection: CInt,
    _ bodyLimit: Int,
    _ answer: @escaping @Sendable (BrowserRequest) async -> BrowserResponse
  ) {
    let limit = timeval(tv_sec: Self.timeout, tv_usec: 0)
    Self.set(SO_RCVTIMEO, limit, of: connection)
    Self.set(SO_SNDTIMEO, limit, of: connection)
    #if canImport(Darwin)
      Self.set(SO_NOSIGPIPE, CInt(1), of: connection)
    #endif
    switch read(connection, bodyLimit) {
    case .success(let request):
      let task = Task { await send(await answer(request), to: connection) }
      Task {
        let watch = Task { try await cancel(task, whenClientHasLeft: connection) }
        await task.value
        watch.cancel()
        _ = await watch.result
        finish(connection)
      }
    case .failure(let refusal):
      _ = Self.send(Self.head(BrowserResponse(status: refusal.status, headers: [], body: Data())), to: connection)
      finish(connection)
    }
  }

  private static let timeBetweenLooks = Duration.milliseconds(100)

  /// Cancels a task when the client of a connection has closed it, so that nothing is searched for nobody.
  private func cancel(_ task: Task<Void, Never>, whenClientHasLeft connection: CInt) async throws {
    while true {
      try await Task.sleep(for: Self.timeBetweenLooks)
      var byte: UInt8 = 0
      if recv(connection, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) == 0 { return task.cancel() }
    }
  }

  private func finish(_ connection: CInt) {
    close(connection)
    connections.signal()
  }

  /// Sends a response. If its rest cannot be made or taken, the connection ends before the last chunk, so that the client
  /// does not take the content for complete.
  private func send(_ response: BrowserResponse, to connection: CInt) async {
    guard let rest = response.rest else {
      _ = await sendWaiting(Self.head(response) + response.body, to: connection)
      return
    }
    guard await sendWaiting(Self.head(response), to: connection), await sendChunk(response.body, to: connection) else {
      return
    }
    do {
      for try await piece in rest {
        guard await sendChunk(piece, to: connection) else { return }
      }
    } catch {
      return
    }
    _ = await sendWaiting(Data("0\r\n\r\n".utf8), to: connection)
  }

  private static func head(_ response: BrowserResponse) -> Data {
    let length = response.rest == nil ? "Content-Length: \(response.body.count)" : "Transfer-Encoding: chunked"
    var head = "HTTP/1.1 \(response.status) \r\n\(length)\r\nConnection: close\r\n"
    for field in response.headers { head += "\(field.name): \(field.value)\r\n" }
    return Data((head + "\r\n").utf8)
  }

  /// Sends a chunk without copying it. An empty one would end the content, so it is left out.
  private func sendChunk(_ data: Data, to connection: CInt) async -> Bool {
    if data.isEmpty { return true }
    let length = Data("\(String(data.count, radix: 16))\r\n".utf8)
    return await sendWaiting(length, data, Data("\r\n".utf8), to: connection)
  }

  /// Sends on a thread that may block.
  private func sendWaiting(_ parts: Data..., to connection: CInt) async -> Bool {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: parts.allSatisfy { Self.send($0, to: connection) }) }
    }
  }

  private static func send(_ data: Data, to connection: CInt) -> Bool {
    #if canImport(Darwin)
      let flags: CInt = 0
    #else
      let flags = CInt(MSG_NOSIGNAL)
    #endif
    return data.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
        #if canImport(Darwin)
          let count = Darwin.send(connection, rest.baseAddress, rest.count, flags)
        #elseif canImport(Musl)
          let count = Musl.send(connection, rest.baseAddress, rest.count, flags)
        #else
          let count = Glibc.send(connection, rest.baseAddress, rest.count, flags)
        #endif
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }
  }

  // MARK: Reading

  private struct Refusal: Error {
    let status: Int
  }

  private func read(_ connection: CInt, _ bodyLimit: Int) -> Result<BrowserRequest, Refusal> {
    var bytes = Data()
    let end = Data("\r\n\r\n".utf8)
    var headEnd = bytes.firstRange(of: end)
    while headEnd == nil {
      guard bytes.count <= Self.headLimit else { return .failure(Refusal(status: 431)) }
      guard receive(connection, into: &bytes) else { return .failure(Refusal(status: 400)) }
      headEnd = bytes.firstRange(of: end)
    }
    guard let headEnd, var request = Self.request(String(decoding: bytes[..<headEnd.lowerBound], as: UTF8.self)) else {
      return .failure(Refusal(status: 400))
    }
    func values(_ name: String) -> [String] {
      request.headers.filter { $0.name.lowercased() == name }.map(\.value)
    }
    // The length of what comes in chunks is not known before it is there.
    guard values("transfer-encoding").isEmpty else { return .failure(Refusal(status: 411)) }
    let lengths = values("content-length")
    guard let length = lengths.isEmpty ? 0 : Int(lengths[0]), lengths.count <= 1, length >= 0 else {
      return .failure(Refusal(status: 400))
    }
    guard length <= bodyLimit else { return .failure(Refusal(status: 413)) }
    var body = Data(bytes[headEnd.upperBound...])
    while body.count < length {
      guard receive(connection, into: &body) else { return .failure(Refusal(status: 400)) }
    }
    request.body = Data(body.prefix(length))
    return .success(request)
  }

  private func receive(_ connection: CInt, into data: inout Data) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = recv(connection, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      data.append(contentsOf: buffer[..<count])
      return true
    }
  }

  /// The request that a head asks, without its content; nil if it is none.
  static func request(_ head: String) -> BrowserRequest? {
    // A carriage return and a line feed are one character.
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
    let words = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard words.count == 3, words[1].hasPrefix("/"), words[2].hasPrefix("HTTP/1.") else { return nil }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var headers: [BrowserRequest.Field] = []
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, !parts[0].contains(" ") else { return nil }
      headers.append(.init(String(parts[0]), trimmed(parts[1])))
    }
    let query = target.count == 2 ? target[1].split(separator: "&") : []
    return BrowserRequest(
      method: String(words[0]),
      path: decoded(target[0]),
      query: query.map { pair in
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? parts[1].replacing("+", with: " ")[...] : ""
        return .init(decoded(parts[0]), decoded(value))
      },
      headers: headers
    )
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
  }

  /// The text with bytes in place of `%41` and the like.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2 {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
