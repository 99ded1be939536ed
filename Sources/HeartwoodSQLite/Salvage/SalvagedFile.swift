import GRDB
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A damaged database, open for reading; or, of one that was cut short, a copy of the pages that are left.
struct SalvagedFile {
  let file: SQLiteFile
  /// What is wrong with the file as a whole.
  let fault: PersistenceError?
  private let copyPath: String?

  private static let headerLength = 100
  private static let blockLength = 1 << 20
  private static let ownerOnly: UInt32 = 0o600

  private init(_ file: SQLiteFile, fault: PersistenceError? = nil, copyPath: String? = nil) {
    self.file = file
    self.fault = fault
    self.copyPath = copyPath
  }

  /// - Throws: an error if SQLite cannot open it, for its first page is damaged.
  static func open(_ path: String, options: StoreOptions) throws -> SalvagedFile {
    let whole = Result<SQLiteFile, any Error> { try SQLiteFile.open(atPath: path, options: options, isReadOnly: true) }
    guard case .failure(let error as PersistenceError) = whole, error.code == .fileCorrupt else {
      return SalvagedFile(try whole.get())
    }
    let copyPath = try copyPages(ofFileAt: path, orThrow: error)
    let copy = Result<SQLiteFile, any Error> {
      try SQLiteFile.open(atPath: copyPath, options: options, isReadOnly: true)
    }
    guard case .success(let file) = copy else {
      try? POSIXFileSystem().removeFile(atPath: copyPath)
      throw error
    }
    return SalvagedFile(file, fault: error, copyPath: copyPath)
  }

  /// Closes the file, and removes the copy.
  func close() {
    // What is read only leaves nothing that could be lost.
    try? file.close()
    if let copyPath { try? POSIXFileSystem().removeFile(atPath: copyPath) }
  }

  /// Writes the whole pages of a file that was cut short to a temporary one, which says that it has no more: SQLite finds a page that is
  /// missing then, and would take it for zeros otherwise.
  private static func copyPages(ofFileAt path: String, orThrow error: PersistenceError) throws -> String {
    let input = try StoreInput(try POSIXFileSystem().openFile(atPath: path))
    var header = try input.bytes(from: 0, count: headerLength)
    guard header.count == headerLength else { throw error }
    let stated = Int(header[16]) << 8 | Int(header[17])
    let pageSize = stated == 1 ? 1 << 16 : stated
    guard pageSize >= 512, input.size >= pageSize else { throw error }
    let pageCount = input.size / pageSize
    // No write-ahead log.
    (header[18], header[19]) = (1, 1)
    for index in 0..<4 { header[28 + index] = UInt8(truncatingIfNeeded: pageCount >> (24 - index * 8)) }
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-salvage.sqlite").path
    let output = try POSIXFileSystem().createTemporaryFile(besidePath: place, permissions: ownerOnly)
    do {
      try header.withUnsafeBytes { try output.write($0) }
      var position = header.count
      while position < pageCount * pageSize {
        let block = try input.bytes(from: position, count: min(blockLength, pageCount * pageSize - position))
        guard !block.isEmpty else { break }
        try block.withUnsafeBytes { try output.write($0) }
        position += block.count
      }
      try output.close()
    } catch {
      try? POSIXFileSystem().removeFile(atPath: output.path)
      throw error
    }
    return output.path
  }
}
