import HeartwoodFoundation
import HeartwoodGeneration
import HeartwoodStore

/// The folder for generated files.
struct OutputFolder {
  let path: String

  /// Writes the files that differ from the existing ones. A human file is written only if there is none, or if the
  /// existing file was generated to be overwritten.
  ///
  /// Nothing is written if a file would replace one that was not generated.
  ///
  /// - Returns: one line per file.
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
      // A file that cannot be read is an error, and not a missing file.
      let former: Data? = try isThere ? Data(contentsOf: url) : nil
      guard former != Data(file.contents.utf8) else { return nil }
      try Data(file.contents.utf8).write(to: url, options: .atomic)
      return (former == nil ? "made " : "updated ") + file.name
    }
  }

  /// Returns one line for each generated file whose entity no longer exists.
  func orphans(of generator: CodeGenerator) throws -> [String] {
    var firstLines: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".swift") {
      guard try status(of: name)?.isRegularFile ?? false else { continue }
      firstLines[name] = try firstLine(of: name)
    }
    return try generator.orphans(among: firstLines).map { "orphaned \($0)" }
  }

  /// Refuses a name that belongs to something other than a file, or, for a machine file, to a file that was not
  /// generated.
  private func checkPlace(of file: GeneratedFile) throws {
    guard let status = try status(of: file.name) else { return }
    let path = url(of: file.name).path
    guard status.isRegularFile else { throw ToolError(at: path, "It is not a file. Choose another name.") }
    // An empty file may be replaced.
    guard file.kind == .machine, status.size > 0, try !isMachineFile(file) else { return }
    throw ToolError(
      at: path,
      "There is a file already that was not generated: its first line does not say so. Choose another name, or move it away."
    )
  }

  /// Returns whether the existing file in the place of a human file is a machine file. With a custom template, human
  /// files may begin like machine files.
  private func isForMachine(_ file: GeneratedFile) throws -> Bool {
    try !file.contents.hasPrefix(GeneratedFile.header) && isMachineFile(file)
  }

  /// Returns whether the existing file has the header of machine files.
  private func isMachineFile(_ file: GeneratedFile) throws -> Bool {
    try firstLine(of: file.name) == GeneratedFile.header
  }

  private func url(of name: String) -> URL { URL(argument: path).appending(path: name) }

  private func status(of name: String) throws -> FileStatus? {
    try POSIXFileSystem().status(atPath: url(of: name).path)
  }

  private func firstLine(of name: String) throws -> String {
    let line = try Data(contentsOf: url(of: name)).prefix { $0 != UInt8(ascii: "\n") }
    // A checkout on another system may have changed the line endings.
    return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }
}
