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

  static func folder(_ path: String) -> ConformanceDisk { ConformanceDisk(place: .folder(path)) }

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

  /// Copies all files to a folder, as a disk would have them if everybody stopped now.
  func copyFiles(to other: ConformanceDisk) throws {
    for name in try fileNames() {
      try FileManager.default.copyItem(atPath: path(name), toPath: other.path(name))
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
