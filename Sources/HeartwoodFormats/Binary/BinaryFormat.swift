import HeartwoodModel
import HeartwoodStore

/// The numbers of the format that `Formats/Binary/README.md` specifies.
enum BinaryFormat {
  /// No text file begins with this, and a transfer that changes line ends or clears the highest bits is detected at
  /// once.
  static let magic: [UInt8] = [0x89, 0x48, 0x57, 0x42, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The bytes of the magic in reverse order.
  static let endMagic: [UInt8] = magic.reversed()
  /// The first bytes of a binary store of Apple's Core Data.
  static let coreDataMagic = Array("CoreData".utf8)

  /// The version from which on the directory may end with a history; in this one it does.
  static let versionWithHistory: UInt32 = 2
  /// The version from which on the metadata has an area of its own, and flags show whether there is a history. Small
  /// files are written in this version.
  static let versionWithMetadataArea: UInt32 = 3
  /// The version of files that saves may be added to.
  static let versionWithLog: UInt32 = 4
  /// The newest version that can be read.
  static let readerVersion: UInt32 = 4
  /// The length from which on a file has room for the names of the saves that are added to it. Shorter ones are
  /// replaced as quickly.
  static let leastLengthWithLog = 1 << 18

  static let headerLength = 64
  static let trailerLength = 64
  /// Sections begin at multiples of this.
  static let alignment = 64

  static let metadataSection = 0
  static let modelSection = 1
  /// The number of sections that belong to no table.
  static let commonSectionCount = 2

  /// Returns the number of zeros after `length` bytes that begin at a multiple of ``alignment``.
  static func paddingLength(_ length: Int) -> Int { -length & (alignment - 1) }

  static let zeros = [UInt8](repeating: 0, count: alignment)
}

// MARK: BinaryFault

/// Makes errors for faults of a file, with their place.
struct BinaryFault: Sendable {
  let path: String

  /// Returns the error for a file that was damaged since it was written.
  func corrupt(
    _ what: String,
    at offset: Int,
    entity: String? = nil,
    property: String? = nil
  ) -> PersistenceError {
    PersistenceError(
      .fileCorrupt,
      "The file was cut short or altered: \(what).",
      recovery: .restoreCopy,
      context: context(at: offset, entity: entity, property: property)
    )
  }

  /// Returns the error for a file that is not a Heartwood binary store.
  func malformed(_ problem: String) -> PersistenceError {
    PersistenceError(.fileMalformed, problem, context: context(at: 0))
  }

  /// Returns the error for a store that this library cannot read.
  func unsupported(_ problem: String, recovery: PersistenceError.Recovery, at offset: Int) -> PersistenceError {
    PersistenceError(.fileFormatUnsupported, problem, recovery: recovery, context: context(at: offset))
  }

  /// Returns the error for an intact file that does not fit the model it is opened with.
  func incompatible(_ problem: String, entity: String, property: String? = nil) -> PersistenceError {
    PersistenceError(
      .modelIncompatible,
      problem,
      recovery: .giveModel,
      context: context(at: nil, entity: entity, property: property)
    )
  }

  private func context(at offset: Int?, entity: String? = nil, property: String? = nil) -> PersistenceError.Context {
    .init(path: path, byteOffset: offset, storeType: .binary, entity: entity, property: property)
  }
}

// MARK: BinaryEntityMap

/// Maps each place in a file's list of tables to an entity of the model. A model may list its entities in another order
/// than the one that the file was written with, and still be the same model.
struct BinaryEntityMap: Sendable {
  /// Represents an entity that the model does not have. No relationship may refer to it.
  static let unknownOrdinal = UInt32.max

  /// The ordinal in the model of each table's entity.
  let ordinals: [UInt32]
  /// Whether each place in the file is the ordinal in the model, so that columns can be used as they are.
  let isIdentity: Bool

  init(_ directory: BinaryDirectory, model: ManagedObjectModel) {
    ordinals = directory.tables.map { table in
      model.entity(named: table.entityName).map { UInt32($0.ordinal) } ?? Self.unknownOrdinal
    }
    isIdentity = ordinals.enumerated().allSatisfy { $0.offset == Int($0.element) }
  }

  /// Returns a copy of places in the file, each replaced by the ordinal in the model. The bytes may be invalid.
  func ordinals(ofIndices indices: ByteSlice) -> ByteSlice {
    let result = GrowableBytes(capacity: indices.count)
    for place in stride(from: 0, to: indices.count - 3, by: 4) {
      let index = Int(indices.unsafeBytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
      result.append(ordinals.indices.contains(index) ? ordinals[index] : Self.unknownOrdinal)
    }
    return result.sealed()
  }
}
