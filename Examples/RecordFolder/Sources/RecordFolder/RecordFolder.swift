import Foundation
import Heartwood

/// The files of a store: `Notes.records`, and those of the records in the folder `Notes.records-files`.
struct RecordFolder {
  let path: String
  private let files = POSIXFileSystem()
  private static let fileExtension = ".json"

  init(path: String) {
    self.path = Self.resolved(path)
  }

  /// What a link leads to has its records beside it.
  private static func resolved(_ path: String) -> String {
    (try? POSIXFileSystem().resolvingSymbolicLinks(inPath: path)) ?? path
  }

  var recordsPath: String { path + "-files" }

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
      "The store's file was moved or removed while the store was open. Open it again where it is now.",
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
    try write(record, to: path(name), exclusively: true)
    return name
  }

  /// Lets `index` count, in one step.
  func write(_ index: RecordIndex) throws {
    try write(index, to: path, exclusively: false)
    try files.synchronizeDirectory(ofPath: path)
  }

  private func write(_ value: some Encodable, to path: String, exclusively: Bool) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let data = try encoder.encode(value)
    let permissions = try files.status(atPath: path)?.permissions
    let file = try files.createTemporaryFile(besidePath: path, permissions: permissions)
    do {
      defer { try? file.close() }
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

  /// Removes the files of records that `index` does not name.
  func removeFiles(exceptOf index: RecordIndex) throws {
    guard try files.status(atPath: recordsPath) != nil else { return }
    let named = index.files
    let entries = try files.entries(ofFolderAtPath: recordsPath)
    remove(entries.filter { $0.kind == .file && isRecord($0.name) && !named.contains($0.name) }.map(\.name))
  }

  private func isRecord(_ name: String) -> Bool {
    name.hasSuffix(Self.fileExtension) && UUID(uuidString: String(name.dropLast(Self.fileExtension.count))) != nil
  }
}
