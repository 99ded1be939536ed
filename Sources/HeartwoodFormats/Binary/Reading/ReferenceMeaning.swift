import HeartwoodStore

/// Whether references whose parts fit name records of entities that they may name.
struct ReferenceMeaning {
  private let references: ReferenceColumn
  /// A bit for each reference, set where it is one; nil where all are.
  private let validity: BitSlice?
  /// A true for the ordinal of each entity that may be named; nil where the references name their own.
  private let allowedEntities: [Bool]?

  init(_ references: ReferenceColumn, validity: BitSlice?, allowedEntities: [Bool]?) {
    self.references = references
    self.validity = validity
    self.allowedEntities = allowedEntities
  }

  /// What is wrong, or nil. O(bytes).
  func fault() -> ColumnFault? {
    entityFault() ?? nameFault()
  }

  @inline(__always)
  private func isReference(_ index: Int) -> Bool { validity?[index] ?? true }

  private func entityFault() -> ColumnFault? {
    guard let allowedEntities else { return nil }
    let what = "a reference leads to an entity that the relationship does not lead to"
    switch references.entities {
    case .same(let ordinal):
      let isAllowed = allowedEntities.indices.contains(Int(ordinal)) && allowedEntities[Int(ordinal)]
      let isUsed = (0..<references.count).contains { isReference($0) }
      return isAllowed || !isUsed ? nil : ColumnFault(what, in: references.values)
    case .each(let bytes):
      for index in 0..<references.count where isReference(index) {
        let ordinal = references.entityOrdinal(index)
        guard ordinal < allowedEntities.count, allowedEntities[ordinal] else {
          return ColumnFault(what, in: bytes, at: index * 4)
        }
      }
      return nil
    }
  }

  private func nameFault() -> ColumnFault? {
    switch references.layout {
    case .integer, .uuid: return nil
    case .string: return TextMeaning.fault(in: references.values, offsets: references.offsets)
    case .mixed:
      for index in 0..<references.count where isReference(index) {
        let bytes = references.bytes(index)
        guard isMixedName(bytes) else {
          let place = bytes.baseAddress.map { $0 - references.values.unsafeBase } ?? 0
          return ColumnFault("a reference is of no known kind", in: references.values, at: place)
        }
      }
      return nil
    }
  }

  private func isMixedName(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch bytes.first.flatMap(ReferenceColumn.Layout.init(rawValue:)) {
    case .integer: bytes.count == 1 + 8
    case .uuid: bytes.count == 1 + 16
    case .string: UTF8Validation.firstInvalidOffset(in: UnsafeRawBufferPointer(rebasing: bytes.dropFirst())) == nil
    case .mixed, nil: false
    }
  }
}
