import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder beside a file for a store that is to take the place of that: all that is written until then lies in it, and only its owner may look
/// there.
///
/// Who interrupts the process removes it. It is locked as long as somebody writes in it, which tells it from one that a killed process has left: the
/// next one for the same file removes such.
final class DraftFolder {
  /// Where the store is to be written.
  let storePath: String
  private let path: String
  private let lock: any FileLock
  private let interruption: Interruption

  private static let names = TemporaryName(suffix: ".heartwood-draft")
  private static let greatestAttempts = 100

  /// - Parameter target: the path of the file, without symbolic links.
  init(beside target: String) throws {
    let (directory, name) = PathParts.split(target)
    Self.removeAbandoned(in: directory, for: name)
    let (path, lock) = try Self.make(in: directory, for: name)
    // Who gives a store its place locks the folder that it is in, so that this one, which is locked, has another in it.
    let folder = PathParts.join(path, "store")
    (self.path, self.lock, storePath) = (path, lock, PathParts.join(folder, name))
    interruption = Interruption { Self.remove(path) }
    do {
      try POSIXFileSystem().createFolder(atPath: folder)
    } catch {
      remove()
      throw error
    }
  }

  /// Removes it with all that is in it. What cannot be removed waits for the next one.
  func remove() {
    Self.remove(path)
    interruption.end()
    lock.release()
  }

  private static func remove(_ path: String) {
    // Somebody may still be at work in it.
    for _ in 0..<greatestAttempts where (try? POSIXFileSystem().status(atPath: path)) != nil {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  private static func make(in directory: String, for name: String) throws -> (path: String, lock: any FileLock) {
    let fileSystem = POSIXFileSystem()
    for _ in 0..<greatestAttempts {
      let path = PathParts.join(directory, names.make(for: name))
      try FileManager.default.createDirectory(
        atPath: path,
        withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700]
      )
      // Somebody may have taken it for an abandoned one in the moment before it was locked.
      guard let lock = fileSystem.lockFileIfFree(atPath: path) else { continue }
      if try fileSystem.status(atPath: path) != nil { return (path, lock) }
      lock.release()
    }
    throw ToolError(at: directory, "No folder for a draft can be kept there.")
  }

  private static func removeAbandoned(in directory: String, for name: String) {
    let fileSystem = POSIXFileSystem()
    for entry in (try? fileSystem.entries(ofFolderAtPath: directory)) ?? []
    where entry.kind == .folder && names.belongs(entry.name, to: name) {
      let path = PathParts.join(directory, entry.name)
      guard let lock = fileSystem.lockFileIfFree(atPath: path) else { continue }
      remove(path)
      lock.release()
    }
  }
}
