import HeartwoodModel
import HeartwoodStore

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
