import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The first 64 bytes of a file: big-endian numbers.
struct CoreDataBinaryHeader: Sendable, Hashable {
  static let magic = Array("CoreData".utf8)
  static let length = 64
  /// The only version that is known.
  static let version: UInt32 = 1

  /// Core Data's version of the format, as its XML files contain it in decimal digits.
  var formVersion: UInt32 = 0x0804_0800
  /// The greatest key that a record has had.
  var greatestKey: Int64 = 0
  /// Eight bytes that are 0 in all files; they stay as they are.
  var remainder: UInt64 = 0
  /// The place of the metadata, in bytes of the file.
  var metadata = 0..<0
  /// The place of the records, in bytes of the file.
  var records = 0..<0

  init() {}

  /// - Throws: ``PersistenceError/Code/fileMalformed``, ``PersistenceError/Code/fileFormatUnsupported``.
  init(_ file: StoreInput) throws(PersistenceError) {
    let bytes = try file.bytes(from: 0, count: Self.length)
    guard bytes.starts(with: Self.magic) else {
      throw Self.malformed("The file does not begin as a binary store of Core Data.", at: 0, file.path)
    }
    guard bytes.count == Self.length else {
      throw Self.malformed("The file ends within its header of \(Self.length) bytes.", at: bytes.count, file.path)
    }
    let version = UInt32(truncatingIfNeeded: Self.number(bytes, at: 8, width: 4))
    guard version == Self.version else {
      throw PersistenceError(
        .fileFormatUnsupported,
        "The header is of version \(version); \(Self.version) is known.",
        context: .init(path: file.path, byteOffset: 8, storeType: .coreDataBinary)
      )
    }
    formVersion = UInt32(truncatingIfNeeded: Self.number(bytes, at: 12, width: 4))
    metadata = try Self.range(bytes, at: 16, of: file)
    records = try Self.range(bytes, at: 32, of: file)
    greatestKey = Int64(bitPattern: Self.number(bytes, at: 48, width: 8))
    remainder = Self.number(bytes, at: 56, width: 8)
  }

  private static func range(_ bytes: [UInt8], at offset: Int, of file: StoreInput) throws(PersistenceError) -> Range<
    Int
  > {
    let (start, count) = (number(bytes, at: offset, width: 8), number(bytes, at: offset + 8, width: 8))
    guard let start = Int(exactly: start), let count = Int(exactly: count), start >= length, start <= file.size,
      count <= file.size - start
    else {
      throw malformed("A part of the file is outside of it, so the file was cut or damaged.", at: offset, file.path)
    }
    return start..<(start + count)
  }

  private static func number(_ bytes: [UInt8], at offset: Int, width: Int) -> UInt64 {
    bytes[offset..<(offset + width)].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func malformed(_ problem: String, at offset: Int, _ path: String) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      problem,
      context: .init(path: path, byteOffset: offset, storeType: .coreDataBinary)
    )
  }

  var bytes: [UInt8] {
    var bytes = Self.magic
    func append(_ number: UInt64, width: Int) {
      for place in (0..<width).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(place * 8))) }
    }
    append(UInt64(Self.version), width: 4)
    append(UInt64(formVersion), width: 4)
    for part in [metadata, records] {
      append(UInt64(part.lowerBound), width: 8)
      append(UInt64(part.count), width: 8)
    }
    append(UInt64(bitPattern: greatestKey), width: 8)
    append(remainder, width: 8)
    return bytes
  }
}

// MARK: CoreDataBinaryWords

/// The keys and classes in the archives.
enum CoreDataBinaryWords {
  static let metadata = "metadata"
  static let mapData = "mapData"

  static let node = ArchivedClass("NSDictionaryMapNode", "NSStoreMapNode")
  static let null = ArchivedClass("NSNull")
  static let mutableString = ArchivedClass("NSMutableString", "NSString")

  static let key = "NSPrimaryKey64"
  static let entityName = "NSEntityName"
  static let attributeValues = "NSAttributeValues"
  static let relatedNodes = "NSRelatedNodes"
  /// The reference of a record that differs from its key. Core Data ignores it.
  static let reference = "HeartwoodReference"
  /// The least number that no record has had, stored beside the records. Core Data ignores it.
  static let nextNumber = "HeartwoodNextReferenceNumber"

  /// Deleted records that relationships still refer to, if their references differ from their keys: arrays of a key,
  /// the name of an entity and a reference. Core Data ignores it.
  static let missingRecords = "HeartwoodMissingRecords"

  static let storeType = "NSStoreType"
  /// Core Data's name for the type.
  static let storeTypeName = "Binary"
  static let identifier = "NSStoreUUID"
  static let hashes = "NSStoreModelVersionHashes"

  static let keys = "NS.keys"
  static let objects = "NS.objects"
}

// MARK: CoreDataBinaryForm

/// The form of a file, which a save keeps.
struct CoreDataBinaryForm: Sendable {
  var header = CoreDataBinaryHeader()
  var metadata = CoreDataMetadata.Form()
  /// Values of the metadata whose classes are not known, as archives of their own.
  var foreignMetadata: [String: Data] = [:]
  /// The number of values of an entity's records in the file, by the entity's name.
  var valueCounts: [String: Int] = [:]
}
