import HeartwoodModel
import HeartwoodStore

/// Takes the records of one entity from a file, and finds their properties by name.
///
/// An unsafe place: names are compared through pointers into memory that is written in `init` only and freed in `deinit`.
final class XMLEntityReader {
  /// A property, without anything that counts references.
  struct Field {
    /// Where the name stands in the file's spelling, and how long it is.
    let name: UnsafeRawPointer
    let nameLength: Int
    let ordinal: Int
    let kind: Kind
    /// The entity that a relationship's objects are of; nil where they may be of several.
    let target: Int
    /// Whether the name of the type must be that of ``kind``.
    let hasKnownType: Bool
  }

  enum Kind {
    case attribute(AttributeType)
    case toOne
    case toMany
  }

  /// What stands for the entity of a reference that only the other records tell.
  static let openTarget = Int(UInt32.max)

  let schema: XMLSchema.Entity
  var entity: EntityDescription { schema.description }
  private let arena: UnsafeMutableRawPointer
  private(set) var fields: [Field] = []
  let records: RecordBuilder
  /// The place of the property that is expected next.
  private var next = 0

  init(_ schema: XMLSchema.Entity) {
    self.schema = schema
    records = RecordBuilder(schema.description)
    arena = .allocate(byteCount: max(1, schema.properties.reduce(0) { $0 + $1.name.utf8.count }), alignment: 1)
    var end = arena
    fields = schema.properties.map { property in
      let name = end
      for byte in property.name.utf8 {
        end.storeBytes(of: byte, as: UInt8.self)
        end += 1
      }
      return Self.field(property, UnsafeRawPointer(name), end - name)
    }
  }

  deinit {
    arena.deallocate()
  }

  private static func field(_ property: XMLSchema.Property, _ name: UnsafeRawPointer, _ length: Int) -> Field {
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
      nameLength: length,
      ordinal: property.ordinal,
      kind: kind,
      target: property.targets.count == 1 ? property.targets[0] : openTarget,
      hasKnownType: isKnown
    )
  }

  // MARK: Records

  /// Begins a record. False where there are more than a table holds.
  func begin(_ reference: ReferenceID) -> Bool {
    guard records.begin() else { return false }
    records.setReference(reference)
    next = 0
    return true
  }

  /// The place of the property called `name` in the file's spelling, or nil where there is none. Fields come in the same order in most
  /// records, so the one behind the last is tried first.
  @inline(__always)
  func field(called name: UnsafeRawBufferPointer) -> Int? {
    if next < fields.count, matches(fields[next], name) {
      next &+= 1
      return next &- 1
    }
    return search(name)
  }

  @inline(never)
  private func search(_ name: UnsafeRawBufferPointer) -> Int? {
    if let place = fields.indices.first(where: { matches(fields[$0], name) }) {
      next = place + 1
      return place
    }
    let spelled = XMLFormat.fileName(ofProperty: String(decoding: name, as: UTF8.self))
    return schema.properties.firstIndex { $0.name == spelled }
  }

  @inline(__always)
  private func matches(_ field: Field, _ name: UnsafeRawBufferPointer) -> Bool {
    guard field.nameLength == name.count, let base = name.baseAddress else { return false }
    return UnsafeRawBufferPointer(start: field.name, count: field.nameLength).elementsEqual(
      UnsafeRawBufferPointer(start: base, count: name.count)
    )
  }

  func finish() -> NodeTable {
    NodeTable(entity: entity, groups: records.finish())
  }
}
