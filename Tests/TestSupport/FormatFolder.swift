package import Foundation

/// The folder of a format's specification and samples.
package struct FormatFolder {
  package let url: URL

  package init(_ name: String) {
    url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Formats/\(name)")
  }

  package func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: url.appending(path: "samples/\(name)")))
  }

  /// A sample; where HEARTWOOD_WRITE_SAMPLES is set, one that is not there yet is written. One that is there is never changed.
  package func bytes(_ name: String, orNew make: () throws -> [UInt8]) throws -> [UInt8] {
    let file = url.appending(path: "samples/\(name)")
    if !FileManager.default.fileExists(atPath: file.path),
      ProcessInfo.processInfo.environment["HEARTWOOD_WRITE_SAMPLES"] != nil
    {
      try Data(try make()).write(to: file)
    }
    return try bytes(name)
  }

  package var specification: String {
    get throws { try String(contentsOf: url.appending(path: "README.md"), encoding: .utf8) }
  }

  package func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.appending(path: folder).path).filter { $0.contains(".") }
      .sorted()
  }
}
