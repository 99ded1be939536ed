import CLibXML2
import HeartwoodModel
import HeartwoodStore

/// Reads a file from its beginning to its end, each value from libxml2's memory into a column.
///
/// An unsafe place: the reader of an entity and its fields are accessed without counting references. They live as long
/// as ``readers``.
final class XMLReader: XMLDatabaseHandler {
  private let schema: XMLSchema
  private let readers: [XMLEntityReader]
  private let readersByName: [String: Int]
  private let entityOrdinals: [String: Int]
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  /// The reader of the object that is being read.
  @exclusivity(unchecked) private var current: Unmanaged<XMLEntityReader>?
  /// The property whose value is being read.
  @exclusivity(unchecked) private var field: UnsafePointer<XMLEntityReader.Field>?
  /// The reader of the object before.
  @exclusivity(unchecked) private var last: Unmanaged<XMLEntityReader>?

  init(_ schema: XMLSchema, limits: XMLLimits) {
    self.schema = schema
    readers = schema.entities.map { XMLEntityReader($0) }
    readersByName = Dictionary(
      schema.entities.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
    entityOrdinals = Dictionary(
      schema.entities.map { ($0.name, $0.description.ordinal) },
      uniquingKeysWith: { first, _ in first }
    )
    super.init(storeType: .xml, limits: limits)
  }

  /// Returns the tables of all entities that have records of their own, in the order of the model.
  func tables() throws(PersistenceError) -> [NodeTable] {
    let tables = readers.map { $0.finish() }
    for table in tables { try table.checkReferences() }
    return try XMLReferenceResolver(schema, tables: tables).resolved()
  }

  /// Returns the same tables, unchecked, in which references to several entities do not contain one yet.
  func unresolvedTables() -> [NodeTable] { readers.map { $0.finish() } }

  override func endHeader(_ header: XMLHeader) {}

  private func fail(_ message: String, code: PersistenceError.Code = .fileMalformed) {
    let entity = current?.takeUnretainedValue().entity
    fail(
      message,
      code: code,
      entity: entity?.name,
      property: field.flatMap { entity?.properties[$0.pointee.ordinal].name }
    )
  }

  // MARK: Elements

  override func beginRecord(_ tag: XMLTag, _ word: Word?) {
    guard let current else {
      return word == .object ? beginObject(tag) : fail("Only elements called object belong here.")
    }
    guard field == nil else { return fail("The element of a value holds another element.") }
    current._withUnsafeGuaranteedRef { reader in
      switch word {
      case .attribute: beginAttribute(tag, reader)
      case .relationship: beginRelationship(tag, reader)
      default: fail("Only elements called attribute and relationship belong in an object.")
      }
    }
  }

  override func endRecord() {
    guard let current else { return }
    guard let field else {
      current._withUnsafeGuaranteedRef { $0.records.end() }
      self.current = nil
      return
    }
    if case .attribute(let type) = field.pointee.kind {
      current._withUnsafeGuaranteedRef { endAttribute(type, field.pointee.column, $0) }
    }
    self.field = nil
  }

  /// Returns the values of two attributes of an element; nil for a missing one.
  @inline(__always)
  private func values(
    of first: Word,
    _ second: Word,
    in tag: XMLTag
  ) -> (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) {
    var values: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?)
    for index in 0..<tag.attributeCount {
      switch tag.name(index).flatMap(word) {
      case first: values.0 = tag.value(index)
      case second: values.1 = tag.value(index)
      default: break
      }
    }
    return values
  }

  private func beginObject(_ tag: XMLTag) {
    let (type, id) = values(of: .type, .id, in: tag)
    guard let type, let id else { return fail("An object must have a type and an id.") }
    guard let reader = reader(type) else { return }
    guard reader._withUnsafeGuaranteedRef({ $0.begin() }) else {
      return fail("There are more records than an atomic store keeps.")
    }
    if let uuid = XMLReferenceText.uuid(id) {
      reader._withUnsafeGuaranteedRef { $0.records.setReference(uuid: uuid) }
    } else if let reference = XMLReferenceText.reference(id) {
      reader._withUnsafeGuaranteedRef { $0.records.setReference(reference) }
    } else {
      return fail("The id of an object must be z and a number, u and a UUID, or s and a string.")
    }
    current = reader
  }

  private func reader(_ name: UnsafeRawBufferPointer) -> Unmanaged<XMLEntityReader>? {
    if let last, last._withUnsafeGuaranteedRef({ $0.isCalled(name) }) { return last }
    let text = String(decoding: name, as: UTF8.self)
    guard let index = readersByName[text] ?? readersByName[XMLFormat.fileName(ofEntity: text)] else {
      fail(
        "The file has objects of an entity that the model lacks, or that is abstract or not in the configuration.",
        recovery: .giveModel,
        code: .modelIncompatible,
        entity: text
      )
      return nil
    }
    let reader = Unmanaged.passUnretained(readers[index])
    last = reader
    return reader
  }

  // MARK: Attributes

  private func beginAttribute(_ tag: XMLTag, _ reader: XMLEntityReader) {
    let (name, type) = values(of: .name, .type, in: tag)
    guard let field = begin(name, reader) else { return }
    guard case .attribute(let expected) = field.pointee.kind else {
      return fail("The property is a relationship in the model.")
    }
    guard let type, !field.pointee.hasKnownType || field.pointee.typeName.hasSameBytes(as: type) else {
      return fail(
        "The attribute has another type in the model, where it is \(expected.rawValue).",
        code: .modelIncompatible
      )
    }
    collectText()
  }

  /// Returns the property of an element, which the record must not have yet.
  @inline(__always)
  private func begin(
    _ name: UnsafeRawBufferPointer?,
    _ reader: XMLEntityReader
  ) -> UnsafePointer<XMLEntityReader.Field>? {
    guard let name else {
      fail("The element has no name.")
      return nil
    }
    guard let field = reader.field(called: name) else {
      fail(
        "The file keeps values that the model does not have.",
        recovery: .giveModel,
        code: .modelIncompatible,
        entity: reader.entity.name,
        property: String(decoding: name, as: UTF8.self)
      )
      return nil
    }
    self.field = field
    guard !reader.records.hasValue(in: field.pointee.column) else {
      fail("An object has the same property twice.")
      return nil
    }
    return field
  }

  private func endAttribute(_ type: AttributeType, _ column: Unmanaged<ColumnBuilder>, _ reader: XMLEntityReader) {
    reader.records.note(byteCount: text.count)
    let fault = column._withUnsafeGuaranteedRef { XMLValueText.append(text.unsafeMutableBytes, type, to: $0) }
    if let fault { fail(fault) }
  }

  // MARK: Relationships

  private func beginRelationship(_ tag: XMLTag, _ reader: XMLEntityReader) {
    let (name, references) = values(of: .name, .idrefs, in: tag)
    guard let field = begin(name, reader) else { return }
    let text = references ?? UnsafeRawBufferPointer(start: nil, count: 0)
    switch field.pointee.kind {
    case .attribute: fail("The property is an attribute in the model.")
    case .toOne: readToOne(text, field.pointee, reader)
    case .toMany: readToMany(text, field.pointee, reader)
    }
  }

  private static let badReference =
    "A list of references must hold ids of objects, separated by spaces. If the name of an entity precedes an id, the "
    + "relationship must allow that entity."

  private func readToOne(_ text: UnsafeRawBufferPointer, _ field: XMLEntityReader.Field, _ reader: XMLEntityReader) {
    let column = reader.records.column(field.ordinal, byteCount: text.count)
    var rest = XMLReferenceList(text)
    guard let first = rest.next() else { return column.appendNull() }
    guard rest.next() == nil else { return fail("A relationship to one object has several.") }
    guard let target = target(first, field, reader) else { return fail(Self.badReference) }
    column.append(toOne: target.reference, entityOrdinal: target.entityOrdinal)
  }

  private func readToMany(_ text: UnsafeRawBufferPointer, _ field: XMLEntityReader.Field, _ reader: XMLEntityReader) {
    let column = reader.records.column(field.ordinal, byteCount: text.count)
    var targets: [(reference: ReferenceID, entityOrdinal: Int)] = []
    var rest = XMLReferenceList(text)
    while let token = rest.next() {
      guard let target = target(token, field, reader) else { return fail(Self.badReference) }
      targets.append(target)
    }
    column.append(toMany: targets)
  }

  @inline(__always)
  private func target(
    _ token: UnsafeRawBufferPointer,
    _ field: XMLEntityReader.Field,
    _ reader: XMLEntityReader
  ) -> (reference: ReferenceID, entityOrdinal: Int)? {
    if let reference = XMLReferenceText.reference(token) { return (reference, field.target) }
    guard let colon = token.firstIndex(of: XMLReferenceList.entityMark) else { return nil }
    let name = String(decoding: token[..<colon], as: UTF8.self)
    guard let ordinal = entityOrdinals[name], reader.leads(field, toEntity: ordinal),
      let reference = XMLReferenceText.reference(UnsafeRawBufferPointer(rebasing: token[(colon + 1)...]))
    else { return nil }
    return (reference, ordinal)
  }
}

/// The references in a list, separated by spaces.
struct XMLReferenceList {
  /// Separates an entity's name from a reference, if the reference alone does not identify the record.
  static let entityMark = UInt8(ascii: ":")

  private var rest: UnsafeRawBufferPointer.SubSequence

  init(_ text: UnsafeRawBufferPointer) {
    rest = text[...]
  }

  mutating func next() -> UnsafeRawBufferPointer? {
    while let byte = rest.first, byte <= UInt8(ascii: " ") { rest.removeFirst() }
    guard !rest.isEmpty else { return nil }
    let end = rest.firstIndex { $0 <= UInt8(ascii: " ") } ?? rest.endIndex
    let token = UnsafeRawBufferPointer(rebasing: rest[..<end])
    rest = rest[end...]
    return token
  }
}
