import Foundation
import Heartwood

/// The files of a store: `Notes.records`, and those of the records in the folder `Notes.records-files`.
struct RecordFolder {
  let path: String
  private let files = POSIXFileSystem()
  private static let fileExtension = ".json"
  /// What files of records are called after until they are whole: one name, by which those are found that nobody has finished.
  private static let temporaryName = "record"

  init(path: String) {
    self.path = Self.resolved(path)
  }

  /// What a link leads to has its records beside it.
  private static func resolved(_ path: String) -> String {
    (try? POSIXFileSystem().resolvingSymbolicLinks(inPath: path)) ?? path
  }

  var recordsPath: String { path + "-files" }

  /// What the store's own file is called after until it is whole. A whole store that is about to take the place of this one is called after
  /// the file itself.
  private var temporaryIndexPath: String { path + "-index" }

  private func path(_ file: String) -> String { recordsPath + "/" + file }

  /// Makes the folder for the records.
  private func create() throws {
    try files.createFolder(atPath: recordsPath)
    try files.synchronizeDirectory(ofPath: recordsPath)
  }

  /// Calls `body` while no other process is in here: what is locked is the folder that the store is in, for a store without records
  /// may have none of its own.
  func locked<Result>(_ body: () throws -> Result) throws -> Result {
    let lock = try files.lockFile(atPath: parent)
    defer { lock?.release() }
    return try body()
  }

  private var parent: String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }
}

// MARK: Reading

extension RecordFolder {
  /// What counts, or nil where there is no store yet.
  func index() throws -> RecordIndex? {
    guard let status = try files.status(atPath: path), status.size > 0 || !status.isRegularFile else { return nil }
    return try RecordIndex(json: try contents(path), path: path)
  }

  func existingIndex() throws -> RecordIndex {
    if let index = try index() { return index }
    throw PersistenceError(
      .fileChangedOnDisk,
      "The store's file was moved or removed while the store was open.",
      recovery: "Open it again where it is now.",
      context: .init(path: path)
    )
  }

  /// The record in a file.
  func record(_ file: String) throws -> Record {
    do {
      return try JSONDecoder().decode(Record.self, from: try contents(path(file)))
    } catch let error as DecodingError {
      throw PersistenceError(
        .fileMalformed,
        "The file is no record in JSON.",
        context: .init(path: path(file)),
        underlyingError: error
      )
    }
  }

  private func contents(_ path: String) throws -> Data {
    let file = try files.openFile(atPath: path)
    var data = Data(count: try file.status().size)
    let count = try data.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    return data.prefix(count)
  }
}

// MARK: Writing

extension RecordFolder {
  /// Writes a record into a new file, whose name it tells.
  func add(_ record: Record, of entity: EntityDescription) throws -> String {
    if try files.status(atPath: recordsPath) == nil { try create() }
    let name = UUID().uuidString + Self.fileExtension
    try write(record, to: path(name), by: path(Self.temporaryName), exclusively: true)
    return name
  }

  /// Lets `index` count, in one step.
  func write(_ index: RecordIndex) throws {
    try write(index, to: path, by: temporaryIndexPath, exclusively: false)
    try files.synchronizeDirectory(ofPath: path)
  }

  /// - Parameter temporaryPath: what the file is called after until it is whole.
  private func write(
    _ value: some Encodable,
    to path: String,
    by temporaryPath: String,
    exclusively: Bool
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let data = try encoder.encode(value)
    let permissions = try files.status(atPath: path)?.permissions
    let file = try files.createTemporaryFile(besidePath: temporaryPath, permissions: permissions)
    do {
      defer { try? file.close() }
      if permissions != nil { try files.copyPermissions(ofFileAtPath: path, toPath: file.path) }
      try data.withUnsafeBytes { try file.write($0) }
      try file.synchronize()
      try files.moveFile(atPath: file.path, toPath: path, exclusively: exclusively)
    } catch {
      try? files.removeFile(atPath: file.path)
      throw error
    }
  }

  /// Waits until the names of the records' files are on the disk.
  func synchronize() throws {
    if try files.status(atPath: recordsPath) != nil { try files.synchronizeDirectory(ofPath: path(".")) }
  }

  /// Removes files of records. One that cannot be removed now goes when the store is opened next.
  func remove(_ names: [String]) {
    for name in names { try? files.removeFile(atPath: path(name)) }
  }

  /// Removes the files of records that `index` does not name, and files that nobody has finished.
  func removeFiles(exceptOf index: RecordIndex) throws {
    for path in [temporaryIndexPath, path(Self.temporaryName)] {
      try files.removeAbandonedTemporaryFiles(besidePath: path)
    }
    guard try files.status(atPath: recordsPath) != nil else { return }
    let named = index.files
    let entries = try files.entries(ofFolderAtPath: recordsPath)
    remove(entries.filter { $0.kind == .file && isRecord($0.name) && !named.contains($0.name) }.map(\.name))
  }

  private func isRecord(_ name: String) -> Bool {
    name.hasSuffix(Self.fileExtension) && UUID(uuidString: String(name.dropLast(Self.fileExtension.count))) != nil
  }
}
