import HeartwoodModel
import HeartwoodStore

/// The numbers of the format that `Formats/Binary/README.md` specifies.
enum BinaryFormat {
  /// No text file begins so, and a transfer that changes line ends or clears the highest bits shows at once.
  static let magic: [UInt8] = [0x89, 0x48, 0x57, 0x42, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The magic from its end to its beginning.
  static let endMagic: [UInt8] = magic.reversed()
  /// How a binary store of Apple's Core Data begins.
  static let coreDataMagic = Array("CoreData".utf8)

  /// The version from which on the directory may end with a history; in this one it does.
  static let versionWithHistory: UInt32 = 2
  /// The version from which on the metadata have an area of their own, and flags tell whether there is a history. It is written.
  static let versionWithMetadataArea: UInt32 = 3
  /// The newest version that is read.
  static let readerVersion: UInt32 = 3

  static let headerLength = 64
  static let trailerLength = 64
  /// Sections begin at multiples of this.
  static let alignment = 64

  static let metadataSection = 0
  static let modelSection = 1
  /// The sections that belong to no table.
  static let commonSectionCount = 2

  /// How many zeros follow `length` bytes that begin at a multiple of ``alignment``.
  static func paddingLength(_ length: Int) -> Int { -length & (alignment - 1) }

  static let zeros = [UInt8](repeating: 0, count: alignment)
}

// MARK: BinaryFault

/// Says what is wrong with a file, and where.
struct BinaryFault: Sendable {
  let path: String

  /// The file is not what was once written.
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

  /// The file is no binary store of ours.
  func malformed(_ problem: String) -> PersistenceError {
    PersistenceError(.fileMalformed, problem, context: context(at: 0))
  }

  /// The file is a store that this library does not read.
  func unsupported(_ problem: String, recovery: PersistenceError.Recovery, at offset: Int) -> PersistenceError {
    PersistenceError(.fileFormatUnsupported, problem, recovery: recovery, context: context(at: offset))
  }

  /// The file is whole, and does not fit the model that it is opened with.
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

/// Which entity of the model each place in a file's list of tables stands for. A model may list its entities in another order
/// than the one that the file was written with, and still be the same model.
struct BinaryEntityMap: Sendable {
  /// Stands for an entity that the model does not have. No relationship may lead there.
  static let unknownOrdinal = UInt32.max

  /// The ordinal in the model of each table's entity.
  let ordinals: [UInt32]
  /// Whether a place in the file is the ordinal in the model, so that columns can be used as they lie.
  let isIdentity: Bool

  init(_ directory: BinaryDirectory, model: ManagedObjectModel) {
    ordinals = directory.tables.map { table in
      model.entity(named: table.entityName).map { UInt32($0.ordinal) } ?? Self.unknownOrdinal
    }
    isIdentity = ordinals.enumerated().allSatisfy { $0.offset == Int($0.element) }
  }

  /// A copy of places in the file, each replaced by the ordinal in the model. Bytes may be anything.
  func ordinals(ofIndices indices: ByteSlice) -> ByteSlice {
    let result = GrowableBytes(capacity: indices.count)
    for place in stride(from: 0, to: indices.count - 3, by: 4) {
      let index = Int(indices.unsafeBytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
      result.append(ordinals.indices.contains(index) ? ordinals[index] : Self.unknownOrdinal)
    }
    return result.sealed()
  }
}
