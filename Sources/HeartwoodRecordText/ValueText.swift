package import HeartwoodFoundation
import HeartwoodModel
package import HeartwoodStore

/// Writes the values of one property of a table as text, directly from the columns.
///
/// A number is the shortest text that reads back as the same number. Dates are written by ``RecordDate``, binary data
/// is base64, and UUIDs are in capitals. A to-one relationship is a reference, and a to-many relationship is a JSON
/// array of references. If a record belongs to another entity than the relationship's destination, such as a subentity,
/// its reference is a JSON object with `$entity` and `$id`, because records of different entities may have the same
/// reference.
struct ValueText {
  /// How a format that quotes text has to treat the text of a value.
  enum Shape {
    /// A number, `true` or `false`.
    case literal
    /// Text that needs no escapes.
    case plainText
    /// Any text.
    case freeText
    /// A JSON array or object.
    case json
  }

  let name: String
  private let ordinal: Int
  private let type: AttributeType?
  private let isToMany: Bool
  /// The entity that the relationship refers to; nil for attributes.
  private let destination: Int?
  private let entities: [EntityDescription]

  /// Creates a writer for a property.
  ///
  /// - Parameters:
  ///   - ordinal: the ordinal of a property of `entity` that stores keep.
  ///   - entities: the entities of the model, needed for the names of entities in references that do not belong to the
  ///     destination. If it is empty, all references are written without a name.
  init(ordinal: Int, of entity: EntityDescription, among entities: [EntityDescription]) {
    let property = entity.properties[ordinal]
    self.name = property.name
    self.ordinal = ordinal
    self.type = property.attribute?.type
    self.isToMany = property.relationship?.isToMany ?? false
    self.destination = entity.relationshipTargets[ordinal]?.entityOrdinal
    self.entities = entities
  }

  /// Returns writers for the attributes of `entity` and then its relationships, each in the order of the model, without
  /// properties that no store keeps.
  static func all(of entity: EntityDescription, among entities: [EntityDescription]) -> [ValueText] {
    let kept = entity.properties.indices.filter { !entity.properties[$0].isTransient }
    let attributes = kept.filter { entity.properties[$0].attribute != nil }
    let relationships = kept.filter { entity.properties[$0].relationship != nil }
    return (attributes + relationships).map { ValueText(ordinal: $0, of: entity, among: entities) }
  }
}

extension ValueText {
  /// Whether the values are numbers, which are aligned to the right in tables.
  var isNumeric: Bool { type?.isNumber ?? false }

  func isNull(_ row: Int, in group: RowGroup) -> Bool {
    isToMany ? false : group.unsafeViews[ordinal].unsafeIsNull(row)
  }

  /// Returns how the value in `row`, which is not null, has to be treated.
  func shape(_ row: Int, in group: RowGroup) -> Shape {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: .literal
    case .double: group.unsafeViews[ordinal].unsafeDouble(row).isFinite ? .literal : .plainText
    case .float: group.unsafeViews[ordinal].unsafeFloat(row).isFinite ? .literal : .plainText
    case .decimal, .date, .uuid: .plainText
    case .string, .uri, .binary, .transformable, .undefined: .freeText
    case nil: isToMany || otherEntity(row, group.columns[ordinal].references) != nil ? .json : .freeText
    }
  }

  /// Returns the name of a reference's entity if it is not the destination of the relationship.
  private func otherEntity(_ index: Int, _ references: ReferenceColumn?) -> String? {
    guard !entities.isEmpty, let references, let destination else { return nil }
    let ordinal = references.entityOrdinal(index)
    return ordinal == destination ? nil : entities[ordinal].name
  }

  /// Returns the bytes of a string or URI; nil for other values.
  func text(_ row: Int, in group: RowGroup) -> UnsafeRawBufferPointer? {
    type == .string || type == .uri ? group.unsafeViews[ordinal].unsafeBytes(row) : nil
  }

  /// Appends the text of the value in `row`, which is not null.
  func append(_ row: Int, of group: RowGroup, to output: GrowableBytes) {
    let view = group.unsafeViews[ordinal]
    switch type {
    case .integer16, .integer32, .integer64: output.append(digitsOf: view.unsafeInteger(row))
    case .boolean: output.append(text: view.unsafeBoolean(row) ? "true" : "false")
    case .double: output.append(text: NumberText.text(of: view.unsafeDouble(row)))
    case .float: output.append(text: NumberText.text(of: view.unsafeFloat(row)))
    case .decimal: output.append(text: PropertyValue.decimal(view.unsafeDecimal(row)).text(of: .decimal) ?? "")
    case .date: RecordDate.append(view.unsafeDouble(row), to: output)
    case .uuid: output.append(textOf: view.unsafeUUID(row).uuid)
    case .binary, .transformable, .undefined: output.append(text: Data(view.unsafeBytes(row)).base64EncodedString())
    case .string, .uri: output.append(view.unsafeBytes(row))
    case nil: appendReferences(row, of: group.columns[ordinal], to: output)
    }
  }

  private func appendReferences(_ row: Int, of column: RecordColumn, to output: GrowableBytes) {
    guard let references = column.references else { return }
    guard isToMany else {
      guard let name = otherEntity(row, references) else { return output.append(textOf: references, at: row) }
      return append(row, of: references, in: name, to: output)
    }
    output.append(ascii: "[")
    for (position, index) in column.range(row).enumerated() {
      if position > 0 { output.append(ascii: ",") }
      if let name = otherEntity(index, references) {
        append(index, of: references, in: name, to: output)
      } else {
        output.append(jsonTextOf: references, at: index)
      }
    }
    output.append(ascii: "]")
  }

  private func append(_ index: Int, of references: ReferenceColumn, in entity: String, to output: GrowableBytes) {
    output.append(text: "{\"$entity\":")
    output.append(jsonString: entity)
    output.append(text: ",\"$id\":")
    output.append(jsonTextOf: references, at: index)
    output.append(ascii: "}")
  }
}

extension GrowableBytes {
  /// Appends the text of a reference.
  func append(textOf references: ReferenceColumn, at index: Int) {
    switch references.layout {
    case .uuid: append(textOf: references.uuidBytes(index))
    case .integer, .string, .mixed: append(text: references[index].text)
    }
  }

  /// Appends the text of a reference as a JSON string.
  func append(jsonTextOf references: ReferenceColumn, at index: Int) {
    switch references.layout {
    case .uuid, .integer:
      append(ascii: "\"")
      append(textOf: references, at: index)
      append(ascii: "\"")
    case .string, .mixed: append(jsonString: references[index].text)
    }
  }
}

// MARK: RecordDate

/// Writes dates as ISO 8601 text in UTC: `2016-09-17T18:15:00Z`, with a fraction of a second if there is one.
///
/// The fraction has the fewest digits that read back as the same date. A date that is not finite or outside of the
/// years 1 to 9999 is written as its seconds since 2001.
package enum RecordDate {
  /// Returns the text of a date.
  package static func text(of date: Date) -> String {
    let output = GrowableBytes()
    append(date.timeIntervalSinceReferenceDate, to: output)
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  /// Appends the date that is `seconds` after 2001-01-01 00:00 UTC.
  package static func append(_ seconds: Double, to output: GrowableBytes) {
    guard DateText.representable.contains(seconds) else { return output.append(text: NumberText.text(of: seconds)) }
    output.appendUnsafely(capacity: DateTextWriter.length) { buffer in
      guard let target = buffer.baseAddress else { return 0 }
      var writer = DateTextWriter(separator: UInt8(ascii: "T"))
      writer.write(seconds, to: target)
      return DateTextWriter.length
    }
    if seconds != seconds.rounded(.down) { output.append(text: DateFraction.text(of: seconds)) }
    output.append(ascii: "Z")
  }
}

// MARK: Numbers

extension AttributeType {
  /// Whether the values are numbers, and not booleans, which only files keep as numbers.
  package var isNumber: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: true
    default: false
    }
  }
}
