import HeartwoodModel
import HeartwoodStore

/// Reads the records of one entity from a file, and finds their properties by name.
///
/// An unsafe place: names are compared through pointers into memory that is written in `init` only and freed in
/// `deinit`, and so are the fields; columns live as long as ``records``.
final class XMLEntityReader {
  /// A property, without reference-counted members.
  struct Field {
    /// The name in the file's spelling.
    let name: UnsafeRawBufferPointer
    /// The name of an attribute's type; empty for relationships.
    let typeName: UnsafeRawBufferPointer
    let ordinal: Int
    /// The place of the property in ``schema``.
    let place: Int
    let column: Unmanaged<ColumnBuilder>
    let kind: Kind
    /// The entity of a relationship's objects; nil if there may be several.
    let target: Int
    /// Whether the name of the type must be that of ``kind``.
    let hasKnownType: Bool
  }

  enum Kind {
    case attribute(AttributeType)
    case toOne
    case toMany
  }

  /// A placeholder for the entity of a reference that can be determined only after reading the other records.
  static let openTarget = Int(UInt32.max)

  let schema: XMLSchema.Entity
  var entity: EntityDescription { schema.description }
  private let arena: UnsafeMutableRawPointer
  private let fields: UnsafeMutablePointer<Field>
  private let fieldCount: Int
  /// The name of the entity in the file.
  private let name: UnsafeRawBufferPointer
  let records: RecordBuilder
  /// The place of the property that is expected next. Exclusivity is checked by eye.
  @exclusivity(unchecked) private var next = 0

  init(_ schema: XMLSchema.Entity) {
    self.schema = schema
    records = RecordBuilder(schema.description)
    let texts = schema.properties.map { ($0.name, Self.typeName($0)) }
    let length = texts.reduce(schema.name.utf8.count) { $0 + $1.0.utf8.count + $1.1.utf8.count }
    arena = .allocate(byteCount: max(1, length), alignment: 1)
    fieldCount = texts.count
    fields = .allocate(capacity: max(1, fieldCount))
    var end = arena
    name = Self.copy(schema.name, to: &end)
    for (index, property) in schema.properties.enumerated() {
      let name = Self.copy(texts[index].0, to: &end)
      let typeName = Self.copy(texts[index].1, to: &end)
      let column = records.unsafeColumn(property.ordinal)
      (fields + index).initialize(to: Self.field(property, at: index, name, typeName, column))
    }
  }

  deinit {
    fields.deinitialize(count: fieldCount)
    fields.deallocate()
    arena.deallocate()
  }

  /// Copies a text to the free part of the arena.
  private static func copy(_ text: String, to end: inout UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    let start = end
    for byte in text.utf8 {
      end.storeBytes(of: byte, as: UInt8.self)
      end += 1
    }
    return UnsafeRawBufferPointer(start: start, count: end - start)
  }

  private static func typeName(_ property: XMLSchema.Property) -> String {
    if case .attribute(let type) = property.content { XMLFormat.typeName(type) } else { "" }
  }

  private static func field(
    _ property: XMLSchema.Property,
    at place: Int,
    _ name: UnsafeRawBufferPointer,
    _ typeName: UnsafeRawBufferPointer,
    _ column: Unmanaged<ColumnBuilder>
  ) -> Field {
    let kind: Kind
    var isKnown = false
    switch property.content {
    case .attribute(let type):
      kind = .attribute(type)
      isKnown = XMLFormat.knownTypes.contains(type)
    case .toOne: kind = .toOne
    case .toMany: kind = .toMany
    }
    return Field(
      name: name,
      typeName: typeName,
      ordinal: property.ordinal,
      place: place,
      column: column,
      kind: kind,
      target: property.targets.count == 1 ? property.targets[0] : openTarget,
      hasKnownType: isKnown
    )
  }

  /// Returns whether a relationship may refer to records of the entity with an ordinal.
  func leads(_ field: Field, toEntity ordinal: Int) -> Bool {
    schema.properties[field.place].targets.contains(ordinal)
  }

  /// Returns whether `name` is the name of the entity in the file.
  @inline(__always)
  func isCalled(_ name: UnsafeRawBufferPointer) -> Bool { self.name.hasSameBytes(as: name) }

  // MARK: Records

  /// Begins a record, whose reference comes next. Returns false if there would be more than a table holds.
  @inline(__always)
  func begin() -> Bool {
    next = 0
    return records.begin()
  }

  /// Returns the property with `name` in the file, or nil if there is none. Fields come in the same order in most
  /// records, so the one after the last is tried first.
  @inline(__always)
  func field(called name: UnsafeRawBufferPointer) -> UnsafePointer<Field>? {
    if next < fieldCount, fields[next].name.hasSameBytes(as: name) {
      next &+= 1
      return UnsafePointer(fields + (next &- 1))
    }
    return search(name)
  }

  @inline(never)
  private func search(_ name: UnsafeRawBufferPointer) -> UnsafePointer<Field>? {
    if let place = (0..<fieldCount).first(where: { fields[$0].name.hasSameBytes(as: name) }) {
      next = place + 1
      return UnsafePointer(fields + place)
    }
    let spelled = XMLFormat.fileName(ofProperty: String(decoding: name, as: UTF8.self))
    return schema.properties.firstIndex { $0.name == spelled }.map { UnsafePointer(fields + $0) }
  }

  func finish() -> NodeTable {
    NodeTable(entity: entity, groups: records.finish())
  }
}
