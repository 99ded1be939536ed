import Heartwood

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where a case keeps its files: in memory, or in a folder on the disk that nobody else has.
struct ConformanceDisk {
  private enum Place {
    case memory(InMemoryFileSystem)
    case folder(String)
  }

  private let place: Place

  static func memory() -> ConformanceDisk { ConformanceDisk(place: .memory(InMemoryFileSystem())) }

  /// A new folder, to be removed with ``remove()``.
  static func folder() throws -> ConformanceDisk {
    let url = FileManager.default.temporaryDirectory.appending(path: "heartwood-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return ConformanceDisk(place: .folder(url.path))
  }

  /// Runs `body` with files in memory, and then with files on the disk, where a store may do what the framework does not see.
  static func each(_ body: (ConformanceDisk) throws -> Void) throws {
    try body(.memory())
    let disk = try folder()
    defer { disk.remove() }
    try body(disk)
  }

  func remove() {
    if case .folder(let path) = place { try? FileManager.default.removeItem(atPath: path) }
  }

  var fileSystem: any FileSystem {
    switch place {
    case .memory(let files): files
    case .folder: POSIXFileSystem()
    }
  }

  func path(_ name: String) -> String {
    switch place {
    case .memory: "/conformance/\(name)"
    case .folder(let path): "\(path)/\(name)"
    }
  }

  /// The names of all files, sorted, those that are hidden included.
  func fileNames() throws -> [String] {
    switch place {
    case .memory(let files): files.paths.map { String($0.dropFirst(path("").count)) }
    case .folder(let path): try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
  }

  /// Writes a file as an editor does.
  func write(_ bytes: [UInt8], to name: String) throws {
    switch place {
    case .memory(let files): try files.setContents(bytes, ofFileAtPath: path(name))
    case .folder: try Data(bytes).write(to: URL(filePath: path(name)))
    }
  }
}
