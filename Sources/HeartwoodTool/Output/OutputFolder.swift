import HeartwoodFoundation
import HeartwoodGeneration
import HeartwoodStore

/// The folder that generated files are written to.
struct OutputFolder {
  let path: String

  /// Writes what differs from what is there; human files only where there is none, or one that was generated to be overwritten. It tells what
  /// was done, a line a file.
  ///
  /// Nothing is written where one of them would replace what no earlier run has made.
  func write(_ files: [GeneratedFile]) throws -> [String] {
    var isFolder = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder {
      throw ToolError(at: path, "It is not a folder. Choose another name.")
    }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for file in files { try checkPlace(of: file) }
    return try files.compactMap { file in
      let url = url(of: file.name)
      let isThere = try status(of: file.name) != nil
      if isThere, file.kind == .human, try !isForMachine(file) { return "kept \(file.name)" }
      // What cannot be read is not taken for nothing.
      let former: Data? = try isThere ? Data(contentsOf: url) : nil
      guard former != Data(file.contents.utf8) else { return nil }
      try Data(file.contents.utf8).write(to: url, options: .atomic)
      return (former == nil ? "made " : "updated ") + file.name
    }
  }

  /// A line for each file of an entity that is gone.
  func orphans(of generator: CodeGenerator) throws -> [String] {
    var firstLines: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".swift") {
      guard try status(of: name)?.isRegularFile ?? false else { continue }
      firstLines[name] = try firstLine(of: name)
    }
    return try generator.orphans(among: firstLines).map { "orphaned \($0)" }
  }

  /// Refuses a place where something stands that is no file, or, for a machine file, one that another hand has written.
  private func checkPlace(of file: GeneratedFile) throws {
    guard let status = try status(of: file.name) else { return }
    let path = url(of: file.name).path
    guard status.isRegularFile else { throw ToolError(at: path, "It is not a file. Choose another name.") }
    // One without a byte is nobody's.
    guard file.kind == .machine, status.size > 0, try !isMachineFile(file) else { return }
    throw ToolError(
      at: path,
      "There is a file already that was not generated: its first line does not say so. Choose another name, or move it away."
    )
  }

  /// Whether what stands in the place of a human file was made for machines alone. A template may let human files begin in the same way.
  private func isForMachine(_ file: GeneratedFile) throws -> Bool {
    try !file.contents.hasPrefix(GeneratedFile.header) && isMachineFile(file)
  }

  /// Whether what stands in the place of `file` says of itself that changes are lost.
  private func isMachineFile(_ file: GeneratedFile) throws -> Bool {
    try firstLine(of: file.name) == GeneratedFile.header
  }

  private func url(of name: String) -> URL { URL(argument: path).appending(path: name) }

  private func status(of name: String) throws -> FileStatus? {
    try POSIXFileSystem().status(atPath: url(of: name).path)
  }

  private func firstLine(of name: String) throws -> String {
    let line = try Data(contentsOf: url(of: name)).prefix { $0 != UInt8(ascii: "\n") }
    // A checkout on another system may have given the lines other ends.
    return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }
}
