import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// Writes found records as a store of any type, in a file that only the response holds.
///
/// The file is in a folder of its own, which only the user may read. The folder is removed as soon as the file is open,
/// so that nothing stays there, even if the process is killed while the file is sent.
struct StoreExport {
  let coordinator: PersistentStoreCoordinator
  let type: StoreType
  let work: RequestWork?

  /// The types of stores that an export can have: single files that can be written.
  static func types(of coordinator: PersistentStoreCoordinator) throws -> [StoreTypeDescription] {
    let registry = coordinator.storeManager.registry
    return try registry.typeDescriptions.filter { description in
      guard let format = try registry.format(for: description.type) as? any FileFormat else { return false }
      return !format.isReadOnly && !description.fileExtensions.isEmpty
        && description.capabilities.supports(.persistence)
    }
  }

  /// Returns the file with some records, those that they refer to by to-one relationships, and the model if the type
  /// keeps it. O(records of the store).
  func response(_ references: [Int: [ReferenceID]]) throws -> BrowserResponse {
    guard let description = try Self.types(of: coordinator).first(where: { $0.type == type }) else {
      throw BrowserError.malformed("No store of type \(type) can be written as a file.")
    }
    let contents = try excerpt(references)
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = PathParts.join(folder.path, "store.\(description.fileExtensions[0])")
    try write(contents, to: path)
    let file = try StoreInput(try POSIXFileSystem().openFile(atPath: path))
    return BrowserResponse(
      type: description.mimeTypes.first ?? "application/octet-stream",
      Data(),
      rest: .init(file)
    )
  }

  private func excerpt(_ references: [Int: [ReferenceID]]) throws -> StoreContents {
    guard let store = coordinator.persistentStores.first else { throw BrowserError.notFound }
    var contents = try store.engine.contents()
    try work?.check()
    contents = try contents.excerpt(of: references, progress: work?.progress)
    // A part of a store is another store.
    contents.metadata.identifier = UUID()
    if let limit = work?.limits.exportedRecordCount, contents.count > limit {
      throw BrowserError.tooMany(contents.count, limit: limit)
    }
    return contents
  }

  private func write(_ contents: StoreContents, to path: String) throws {
    let manager = coordinator.storeManager
    try create(contents, at: path)
    guard let format = try manager.registry.format(for: type) as? any FileFormat else { return }
    try format.checkpoint(storeAt: path)
    let others = try format.sideFiles(ofStoreAt: path).filter { try manager.fileSystem.status(atPath: $0) != nil }
    let folder = try format.supportFolder(ofStoreAt: path).map { try manager.fileSystem.entries(ofFolderAtPath: $0) }
    guard others.isEmpty, folder?.isEmpty != false else {
      throw BrowserError.malformed(
        "A store of type \(type) keeps some of these values in further files, and a download is one file. Convert the "
          + "store with heartwood convert, or choose another type."
      )
    }
  }

  /// Makes the file. Nothing has it open afterwards. An error does not name the file, which is gone when it is read.
  private func create(_ contents: StoreContents, at path: String) throws {
    let request = StoreManager.Request(type: type, path: path, options: StoreOptions())
    do {
      let store = try coordinator.storeManager.write(contents, to: request, replacing: false)
      _ = store.engine.close(unlessSavedSince: nil)
    } catch var error as PersistenceError {
      error.context.path = nil
      if error.code == .capabilityMissing { throw BrowserError.malformed(error.description) }
      throw error
    }
  }
}

// MARK: TemporaryFolder

/// A folder for one file, which nobody else may read.
private struct TemporaryFolder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "heartwood-export-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: url,
      withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700]
    )
    path = url.path
  }

  func remove() {
    // try?: the system clears the folder of temporary files, and the response does not depend on it.
    try? FileManager.default.removeItem(atPath: path)
  }
}

extension BrowserResponse.Rest {
  private static let pieceLength = 1 << 20

  /// Reads a file that stays open until it was sent.
  init(_ file: StoreInput) {
    self.init { number in
      let bytes = try file.bytes(from: number * Self.pieceLength, count: Self.pieceLength)
      return bytes.isEmpty ? nil : Data(bytes)
    }
  }
}
