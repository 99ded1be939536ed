import Foundation
import HeartwoodStore
import HeartwoodTesting
import Testing

/// A folder for one test, on the system's disk or in memory, seen from outside of the store layer.
final class TestDisk {
  enum Kind: CaseIterable {
    case posix
    case inMemory
  }

  let fileSystem: any FileSystem
  let folder: String
  private let memory: InMemoryFileSystem?
  private let scratch: ScratchFolder?

  init(_ kind: Kind) throws {
    switch kind {
    case .posix:
      memory = nil
      fileSystem = POSIXFileSystem()
      let scratch = try ScratchFolder()
      self.scratch = scratch
      folder = scratch.url.resolvingSymlinksInPath().path
    case .inMemory:
      let memory = InMemoryFileSystem()
      self.memory = memory
      scratch = nil
      fileSystem = memory
      folder = "/folder"
    }
  }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// The names in the folder, sorted.
  func names() throws -> [String] {
    if let memory { return memory.paths.map { String($0.dropFirst(folder.count + 1)) } }
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  func contents(_ name: String) throws -> [UInt8]? {
    if let memory { return memory.contents(ofFileAtPath: path(name)) }
    guard FileManager.default.fileExists(atPath: path(name)) else { return nil }
    return [UInt8](try Data(contentsOf: URL(filePath: path(name))))
  }

  /// Writes a file in place.
  func write(_ bytes: [UInt8], to name: String) throws {
    if let memory { return try memory.setContents(bytes, ofFileAtPath: path(name)) }
    try Data(bytes).write(to: URL(filePath: path(name)))
  }

  func link(_ name: String, to destination: String) throws {
    if let memory { return try memory.createSymbolicLink(atPath: path(name), destination: destination) }
    try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: destination)
  }

  func makeFolder(_ name: String) throws {
    // A folder in memory comes with its first file.
    if memory != nil { return try write([1], to: "\(name)/file") }
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
  }

  func remove(_ name: String) throws {
    try fileSystem.removeFile(atPath: path(name))
  }

  func setPermissions(_ permissions: UInt32, of name: String) throws {
    if let memory { return try memory.setPermissions(permissions, ofFileAtPath: path(name)) }
    try FileManager.default.setAttributes([.posixPermissions: Int(permissions)], ofItemAtPath: path(name))
  }

  /// A file in a folder that takes no new names.
  func unwritablePath() throws -> String {
    guard let memory else {
      #if os(Linux)
        // Permissions do not hold root back; this folder does.
        return "/proc/todo.csv"
      #else
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
        return path("todo.csv")
      #endif
    }
    try memory.setFolder(atPath: folder, isReadOnly: true)
    return path("todo.csv")
  }

  /// The file, open and with its identity, as a store that has loaded it holds it.
  func loaded(_ name: String) throws -> StoreInput {
    try StoreInput(try fileSystem.openFile(atPath: path(name)))
  }
}
