import HeartwoodGeneration

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The folder that generated files are written to.
struct OutputFolder {
  let path: String

  /// Writes what differs from what is there; human files only where there is none. It tells what was done, a line a file.
  func write(_ files: [GeneratedFile]) throws -> [String] {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return try files.compactMap { file in
      let url = URL(filePath: path).appending(path: file.name)
      let former = try? Data(contentsOf: url)
      if former != nil, file.kind == .human { return "kept \(file.name)" }
      guard former != Data(file.contents.utf8) else { return nil }
      try Data(file.contents.utf8).write(to: url, options: .atomic)
      return (former == nil ? "made " : "updated ") + file.name
    }
  }

  /// A line for each file of an entity that is gone.
  func orphans(of generator: CodeGenerator) throws -> [String] {
    var firstLines: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".swift") {
      let data = try Data(contentsOf: URL(filePath: path).appending(path: name))
      firstLines[name] = String(decoding: data.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    return try generator.orphans(among: firstLines).map { "orphaned \($0)" }
  }
}
