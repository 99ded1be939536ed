import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads some records of one entity from a binary property list.
final class BinaryPropertyListRecordReader {
  /// The meanings of a record's keys, determined once for all records with the same keys.
  private struct Layout {
    var keys: UnsafeRawBufferPointer
    /// The place of the reference among the values.
    var reference: Int
    /// The property of each value, by its place in the schema; nil for the reference.
    var places: [Int?]
  }

  private typealias Content = PropertyListSchema.Property.Content
  /// The number of bytes that are taken from the allowance at once.
  private static let portion = 1 << 20
  /// The number of records after which the memory of the part of the file that has been read is released: one to three
  /// megabytes of small records.
  private static let recordsInMemory = 1 << 14

  private let list: BinaryPropertyList
  private let schema: PropertyListSchema
  private let entity: PropertyListSchema.Entity
  private let path: String
  private let allowance: RecordAllowance
  private let records: RecordBuilder
  private let contents: [Content]
  private let ordinals: [Int]
  private let targets: [[Int]]
  private var layout: Layout?
  private var taken = 0

  init(
    _ list: BinaryPropertyList,
    schema: PropertyListSchema,
    entity: PropertyListSchema.Entity,
    path: String,
    allowance: RecordAllowance
  ) {
    self.list = list
    self.schema = schema
    self.entity = entity
    self.path = path
    self.allowance = allowance
    records = RecordBuilder(entity.description)
    contents = entity.properties.map(\.content)
    ordinals = entity.properties.map(\.ordinal)
    targets = entity.properties.map(\.targets)
  }

  /// Reads some of the records in an array.
  func groups(
    _ references: BinaryPropertyList.References,
    in range: Range<Int>
  ) throws(PersistenceError) -> [RowGroup] {
    for index in range {
      do throws(PropertyListFault) {
        try read(try list.offset(references[index]))
      } catch {
        throw explained(error)
      }
      if index & (Self.recordsInMemory - 1) == 0 { list.slice.region.releaseResidentPages() }
    }
    return records.finish()
  }

  /// Reads the records in `objects` that can be read, and returns the faults of the others.
  func soundGroups(_ objects: [Int]) -> (groups: [RowGroup], faults: [(object: Int, error: PersistenceError)]) {
    var faults: [(Int, PersistenceError)] = []
    for object in objects {
      do throws(PropertyListFault) {
        (current, isForeign) = (nil, false)
        try read(try list.offset(object))
      } catch {
        records.abandon()
        faults.append((object, explained(error)))
      }
    }
    return (records.finish(), faults)
  }

  /// The property that is being read, for error messages.
  private var current: Int?
  private var isForeign = false

  private func explained(_ fault: PropertyListFault) -> PersistenceError {
    var error = BinaryPropertyListReader.error(fault, path: path)
    error.context.entity = entity.name
    error.context.property = current.map { entity.properties[$0].name }
    if isForeign { error.code = .modelIncompatible }
    return error
  }

  private func read(_ offset: Int) throws(PropertyListFault) {
    guard case .dictionary(let keys, let values) = try list.object(at: offset) else {
      throw PropertyListFault(offset: offset, reason: "A record must be a dictionary.")
    }
    let layout = try layout(keys, offset)
    guard records.begin() else {
      throw PropertyListFault(offset: offset, reason: "There are more records than an atomic store keeps.")
    }
    guard let reference = try reference(list.scalar(values[layout.reference])) else {
      throw PropertyListFault(offset: offset, reason: "The reference of a record must be a number or a text.")
    }
    records.setReference(reference)
    for (index, place) in layout.places.enumerated() {
      guard let place else { continue }
      current = place
      try read(values[index], place)
    }
    current = nil
    records.end()
    try checkMemory(offset)
  }

  private func checkMemory(_ offset: Int) throws(PropertyListFault) {
    guard taken < Self.portion || takePortion() else {
      throw PropertyListFault(offset: offset, reason: "The records take far more memory than the file has bytes.")
    }
  }

  private func takePortion() -> Bool {
    defer { taken = 0 }
    return allowance.take(taken)
  }

  // MARK: Keys

  @inline(__always)
  private func layout(_ keys: BinaryPropertyList.References, _ offset: Int) throws(PropertyListFault) -> Layout {
    if let layout, layout.keys.count == keys.bytes.count, layout.keys.elementsEqual(keys.bytes) { return layout }
    let layout = try newLayout(keys, offset)
    self.layout = layout
    return layout
  }

  private func newLayout(_ keys: BinaryPropertyList.References, _ offset: Int) throws(PropertyListFault) -> Layout {
    var places: [Int?] = []
    var reference: Int?
    for index in 0..<keys.count {
      guard let key = try list.key(keys[index]) else {
        throw PropertyListFault(offset: offset, reason: "A key is not text.")
      }
      if key == PropertyListFormat.referenceKey {
        guard reference == nil else { throw PropertyListFault(offset: offset, reason: "A key occurs twice.") }
        reference = index
        places.append(nil)
      } else {
        guard let place = entity.placesByName[key] else {
          isForeign = true
          throw PropertyListFault(offset: offset, reason: "A record has a value that the model does not have.")
        }
        guard !places.contains(place) else { throw PropertyListFault(offset: offset, reason: "A key occurs twice.") }
        places.append(place)
      }
    }
    guard let reference else {
      throw PropertyListFault(offset: offset, reason: "A record has no reference.")
    }
    return Layout(keys: keys.bytes, reference: reference, places: places)
  }

  // MARK: Values

  @inline(__always)
  private func read(_ number: Int, _ place: Int) throws(PropertyListFault) {
    switch contents[place] {
    case .attribute(let type):
      guard let scalar = try list.scalar(number) else {
        throw PropertyListFault(
          offset: try list.offset(number),
          reason: "The value is of another kind than the attribute."
        )
      }
      let count = scalar.byteCount
      taken &+= count
      let column = records.column(ordinals[place], byteCount: count)
      if let reason = scalar.append(to: column, type) {
        throw PropertyListFault(offset: try list.offset(number), reason: reason)
      }
    case .toOne(let destination):
      let target = try target(number, destination, place)
      records.column(ordinals[place], byteCount: 64).append(
        toOne: target.reference,
        entityOrdinal: target.entityOrdinal
      )
    case .toMany(let destination): try readToMany(number, destination, place)
    }
  }

  private func readToMany(_ number: Int, _ destination: Int, _ place: Int) throws(PropertyListFault) {
    guard case .array(let references) = try list.object(number) else {
      throw PropertyListFault(
        offset: try list.offset(number),
        reason: "A relationship to many objects must be an array."
      )
    }
    var targets: [(reference: ReferenceID, entityOrdinal: Int)] = []
    for index in 0..<references.count { targets.append(try target(references[index], destination, place)) }
    taken &+= references.count * 64
    records.column(ordinals[place], byteCount: references.count * 64).append(toMany: targets)
  }

  private func target(
    _ number: Int,
    _ destination: Int,
    _ place: Int
  ) throws(PropertyListFault) -> (reference: ReferenceID, entityOrdinal: Int) {
    try checkMemory(try list.offset(number))
    switch try list.object(number) {
    case .scalar(let scalar):
      if targets[place].contains(destination), let reference = reference(scalar) { return (reference, destination) }
    // A dictionary with other keys may be large, and many relationships may refer to it.
    case .dictionary(let keys, let values) where keys.count == 2:
      if let id = try list.member(PropertyListFormat.referenceKey, of: keys, values),
        let reference = try reference(list.scalar(id)),
        let entity = try list.member(PropertyListFormat.entityKey, of: keys, values),
        let ordinal = try list.key(entity).flatMap({ schema.ordinal(ofEntity: $0) }),
        targets[place].contains(ordinal)
      {
        return (reference, ordinal)
      }
    case .dictionary, .array: break
    }
    throw PropertyListFault(
      offset: try list.offset(number),
      reason: """
        A relationship must contain a reference, or a dictionary with an entity and a reference. Without an entity it refers to the \
        destination, which must not be abstract then.
        """
    )
  }

  /// Returns the reference for a value. Its text is counted: it is copied wherever it occurs.
  @inline(__always)
  private func reference(_ scalar: PropertyListScalar?) -> ReferenceID? {
    guard let scalar else { return nil }
    taken &+= scalar.byteCount
    return scalar.reference
  }
}
