import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files beside a store that hold its large binary data: `.NAME_SUPPORT/_EXTERNAL_DATA/<UUID>` for the store `NAME.sqlite`.
struct ExternalFiles {
  /// What data in the row begin with.
  static let inlineMark: UInt8 = 1
  /// What the name of a file with the data begins with.
  static let fileMark: UInt8 = 2

  private let folder: String

  /// - Parameter path: the file of the store.
  init(ofStoreAt path: String) {
    let (directory, name) = PathParts.split(path)
    let fileExtension = PathParts.fileExtension(path)
    let stem = fileExtension.isEmpty ? name : String(name.dropLast(fileExtension.utf8.count + 1))
    folder = PathParts.join(PathParts.join(directory, ".\(stem)_SUPPORT"), "_EXTERNAL_DATA")
  }

  /// The data in the file called `name`.
  func contents(_ name: String) throws -> [UInt8] {
    // The name comes from the file of the store, which may be anybody's: it must not lead elsewhere.
    guard UUID(uuidString: name) != nil else { throw ColumnReader.Fault("names a file that is not called by a UUID") }
    let path = PathParts.join(folder, name)
    let input = try StoreInput(try POSIXFileSystem().openFile(atPath: path))
    return try input.bytes(from: 0, count: input.status.size)
  }
}
