import CZlib
import GRDB
import HeartwoodModelFiles
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The model that a file contains for Core Data, in the table `Z_MODELCACHE`: a compressed keyed archive.
enum SQLiteModelCache {
  /// The maximum length of a model, compressed and decompressed. Those of large applications take less than a hundredth
  /// of it.
  private static let greatestCompressedLength = 16 << 20
  private static let greatestLength = 64 << 20

  /// Returns the model in the file; nil if there is none, as in files of old versions of Core Data.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` if the content is not a model.
  static func model(in db: Database, path: String) throws -> ManagedObjectModel? {
    guard try db.tableExists(SQLiteName.modelCacheTable),
      let length = try Int.fetchOne(db, sql: "SELECT length(Z_CONTENT) FROM Z_MODELCACHE LIMIT 1"), length > 0
    else { return nil }
    guard length <= greatestCompressedLength else {
      throw malformed("is longer than \(greatestCompressedLength) bytes", path)
    }
    guard let content = try Data.fetchOne(db, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1") else { return nil }
    return try model(Array(content), path: path)
  }

  /// Returns the model that `content` represents.
  static func model(_ content: [UInt8], path: String) throws(PersistenceError) -> ManagedObjectModel {
    let archive: [UInt8]
    do {
      archive = try RawInflation.expand(content, limit: greatestLength)
    } catch {
      switch error {
      case .damaged: throw malformed("cannot be expanded: its bytes were changed or cut short", path)
      case .tooLong: throw malformed("expands to more than \(greatestLength) bytes", path)
      case .outOfMemory: throw PersistenceError(.fileReadFailed, "There is no memory to expand the model with.")
      }
    }
    do {
      return try ManagedObjectModel(compiled: archive, path: path)
    } catch {
      throw malformed("is not a model: \(error.message)", path, error)
    }
  }

  /// Writes `model` to a file, in place of the existing one. If the model contains something that was never seen in an
  /// archive of Core Data's, the file has no model afterwards, because a different model would be worse. The caller
  /// must have begun a transaction.
  static func write(_ model: ManagedObjectModel, to db: Database) throws {
    try db.execute(sql: "DELETE FROM Z_MODELCACHE")
    guard let archive = model.compiled(), let content = RawDeflation.compress(archive),
      content.count <= greatestCompressedLength, archive.count <= greatestLength
    else { return }
    try db.execute(sql: "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", arguments: [Data(content)])
  }

  private static func malformed(_ what: String, _ path: String, _ error: (any Error)? = nil) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      "The model in the file (Z_CONTENT in Z_MODELCACHE) \(what).",
      recovery: "Open the store with its model.",
      context: .init(path: path, storeType: .sqlite),
      underlyingError: error
    )
  }
}

// MARK: RawDeflation

/// Compresses bytes to DEFLATE data without a header, which ``RawInflation`` decompresses.
///
/// Unsafe code: zlib reads and writes in buffers whose pointers and lengths are passed to it.
enum RawDeflation {
  /// The memory level of zlib: its default.
  private static let memoryLevel: Int32 = 8

  /// Returns nil if there is not enough memory, or if there are more than 4 GB.
  static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count <= UInt32.max else { return nil }
    var stream = z_stream()
    let start = deflateInit2_(
      &stream,
      Z_DEFAULT_COMPRESSION,
      Z_DEFLATED,
      RawInflation.rawWindow,
      memoryLevel,
      Z_DEFAULT_STRATEGY,
      ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size)
    )
    guard start == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    // The maximum length of the compressed data, so that one step is enough.
    guard let capacity = UInt32(exactly: deflateBound(&stream, UInt(bytes.count))) else { return nil }
    // zlib only reads its input.
    var status = Z_OK
    let output = bytes.withUnsafeBufferPointer { source in
      stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
      stream.avail_in = UInt32(source.count)
      return [UInt8](unsafeUninitializedCapacity: Int(capacity)) { buffer, count in
        stream.next_out = buffer.baseAddress
        stream.avail_out = capacity
        status = deflate(&stream, Z_FINISH)
        count = Int(capacity - stream.avail_out)
      }
    }
    return status == Z_STREAM_END ? output : nil
  }
}

// MARK: RawInflation

/// Decompresses DEFLATE data without a header, as Core Data stores its models, up to a length.
///
/// Unsafe code: zlib reads and writes in buffers whose pointers and lengths are passed to it.
enum RawInflation {
  enum Failure: Error {
    /// The bytes are not DEFLATE data, or end too early.
    case damaged
    /// The decompressed data is longer than allowed.
    case tooLong
    case outOfMemory
  }

  /// The window size for zlib; a negative one means that the data has no header.
  static let rawWindow: Int32 = -15
  private static let stepLength = 1 << 18

  static func expand(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    guard bytes.count <= UInt32.max else { throw .tooLong }
    var stream = z_stream()
    guard inflateInit2_(&stream, rawWindow, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw .outOfMemory
    }
    defer { inflateEnd(&stream) }
    var output: [UInt8] = []
    // zlib only reads its input.
    let status = bytes.withUnsafeBufferPointer { source in
      stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
      stream.avail_in = UInt32(source.count)
      var status = Z_OK
      while status == Z_OK, output.count <= limit { status = step(&stream, to: &output) }
      return status
    }
    guard output.count <= limit else { throw .tooLong }
    guard status == Z_STREAM_END else { throw status == Z_MEM_ERROR ? .outOfMemory : .damaged }
    return output
  }

  private static func step(_ stream: inout z_stream, to output: inout [UInt8]) -> Int32 {
    var status = Z_OK
    output += [UInt8](unsafeUninitializedCapacity: stepLength) { buffer, count in
      stream.next_out = buffer.baseAddress
      stream.avail_out = UInt32(stepLength)
      status = inflate(&stream, Z_NO_FLUSH)
      count = stepLength - Int(stream.avail_out)
    }
    return status
  }
}
