import Foundation
import HeartwoodTesting
import Testing

/// A folder with a copy of the example's file and of the version of the model that it is of, that is there for the length of a test.
final class WorkFolder {
  let heartwood: Tool
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
    heartwood = Tool(folder: scratch.url)
    try FileManager.default.createDirectory(at: path("ToDo.xcdatamodeld"), withIntermediateDirectories: true)
    for name in ["todo.csv", "ToDo.xcdatamodeld/ToDo.xcdatamodel"] {
      try FileManager.default.copyItem(at: Repository.example.appending(path: name), to: path(name))
    }
  }

  /// Lets the example's model have all its versions, of which its file is of the first.
  func addVersions() throws {
    for name in ["ToDo.xcdatamodeld/ToDo 2.xcdatamodel", "ToDo.xcdatamodeld/.xccurrentversion"] {
      try FileManager.default.copyItem(at: Repository.example.appending(path: name), to: path(name))
    }
  }

  var url: URL { scratch.url }

  func path(_ name: String) -> URL { url.appending(path: name) }

  func data(_ name: String) throws -> Data { try Data(contentsOf: path(name)) }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name).path) }

  func write(_ text: String, to name: String) throws { try scratch.write(text, to: name) }

  /// Writes the model of the example, but memos are unique.
  func writeUniqueModel(to name: String) throws {
    let properties = """
      {"default": "false", "kind": "attribute", "name": "done", "type": "boolean"},
      {"kind": "attribute", "name": "memo", "optional": true, "type": "string"},
      {"default": "0", "kind": "attribute", "name": "sortOrder", "type": "integer32"},
      {"kind": "attribute", "name": "creationDate", "optional": true, "type": "date"}
      """
    let entity = #"{"name": "ToDo", "class": "ToDo", "unique": [["memo"]], "properties": ["# + properties + "]}"
    try write(#"{"format": 1, "entities": ["# + entity + "]}", to: name)
  }

  /// The names of all files, hidden ones too.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }

  /// Writes a ToDo file of `count` records.
  func writeToDos(count: Int, to name: String) throws {
    let lines = (0..<count).map { number in
      let digits = String(number + 0x1000_0000_0000, radix: 16, uppercase: true)
      return "\(number % 2), memo \(number), \(number), 2016-09-17 18:15:00 +0000, E899556C-BE1A-42A3-A634-\(digits)\n"
    }
    try write("#D35CF030-1EC1-4667-9666-70C8247A1010\n" + lines.joined(), to: name)
  }
}
