import HeartwoodFoundation
package import HeartwoodModel
package import HeartwoodStore

/// Formats records as JSON Lines: one object per line, with `$entity`, `$id`, the attributes and then the relationships
/// in the order of the model.
///
/// Nil is `null`. Integers and finite floating-point numbers are numbers, and booleans are `true` or `false`. All other
/// values are strings, including decimals and numbers that are not finite, so that nothing is lost. A to-one
/// relationship is a reference, and a to-many relationship is an array of references. The same records always give the
/// same bytes.
package struct RecordJSON: RecordFormatter {
  private struct Member {
    let value: ValueText
    /// A comma, the name in quotation marks, and a colon.
    let prefix: ByteSlice
  }

  /// The start of a line, before the reference.
  private let opening: ByteSlice
  private let members: [Member]

  /// - Parameter entities: the entities of the model, needed for the names of entities in references that do not belong
  ///   to the destination of a relationship.
  package init(entity: EntityDescription, among entities: [EntityDescription] = []) {
    let opening = GrowableBytes()
    opening.append(text: "{\"$entity\":")
    opening.append(jsonString: entity.name)
    opening.append(text: ",\"$id\":")
    self.opening = opening.sealed()
    members = ValueText.all(of: entity, among: entities).map { value in
      let prefix = GrowableBytes()
      prefix.append(ascii: ",")
      prefix.append(jsonString: value.name)
      prefix.append(ascii: ":")
      return Member(value: value, prefix: prefix.sealed())
    }
  }

  package func append(_ row: Int, of group: RowGroup, to output: GrowableBytes) {
    output.append(opening.unsafeBytes)
    output.append(jsonTextOf: group.references, at: row)
    for member in members {
      output.append(member.prefix.unsafeBytes)
      append(member.value, row, of: group, to: output)
    }
    output.append(text: "}\n")
  }

  /// Appends the value of the property called `name`, which must not be transient.
  package func append(valueOf name: String, _ row: Int, of group: RowGroup, to output: GrowableBytes) {
    guard let member = members.first(where: { $0.value.name == name }) else {
      preconditionFailure("The entity has no such property, or stores do not keep it.")
    }
    append(member.value, row, of: group, to: output)
  }

  private func append(_ value: ValueText, _ row: Int, of group: RowGroup, to output: GrowableBytes) {
    if value.isNull(row, in: group) { return output.append(text: "null") }
    if let text = value.text(row, in: group) { return output.append(jsonString: text) }
    switch value.shape(row, in: group) {
    case .literal, .json: value.append(row, of: group, to: output)
    case .plainText:
      output.append(ascii: "\"")
      value.append(row, of: group, to: output)
      output.append(ascii: "\"")
    case .freeText:
      let text = GrowableBytes()
      value.append(row, of: group, to: text)
      output.append(jsonString: UnsafeRawBufferPointer(text.unsafeMutableBytes))
    }
  }
}

// MARK: HistoryJSON

/// Formats a transaction of a store's history as one line of JSON.
///
/// The object has `number`, `date`, `author` and `context` (strings, or null), `bundle` and `process` if the store has
/// recorded them, and `changes`, an array of objects. A change has `kind` (`insert`, `update` or `delete`), `entity`
/// and `id` (the reference). An update also has `properties`, an array of names, and a deletion has `tombstone`, the
/// preserved values by name. Values have the form that ``RecordJSON`` gives them. The same transaction always gives the
/// same bytes.
package enum HistoryJSON {
  package static func append(_ transaction: PersistentHistoryTransaction, to output: GrowableBytes) {
    output.append(text: "{\"number\":")
    output.append(digitsOf: transaction.transactionNumber)
    output.append(text: ",\"date\":\"")
    RecordDate.append(transaction.timestamp.timeIntervalSinceReferenceDate, to: output)
    output.append(text: "\",\"author\":")
    append(transaction.author, to: output)
    output.append(text: ",\"context\":")
    append(transaction.contextName, to: output)
    for (name, value) in [("bundle", transaction.bundleID), ("process", transaction.processID)] {
      guard let value else { continue }
      output.append(text: ",\"\(name)\":")
      output.append(jsonString: value)
    }
    output.append(text: ",\"changes\":[")
    for (place, change) in transaction.changes.enumerated() {
      if place > 0 { output.append(ascii: ",") }
      append(change, to: output)
    }
    output.append(text: "]}\n")
  }

  private static func append(_ text: String?, to output: GrowableBytes) {
    guard let text else { return output.append(text: "null") }
    output.append(jsonString: text)
  }

  private static func append(_ change: PersistentHistoryChange, to output: GrowableBytes) {
    output.append(text: "{\"kind\":")
    output.append(jsonString: "\(change.changeType)")
    output.append(text: ",\"entity\":")
    output.append(jsonString: change.changedObjectID.entity.name)
    output.append(text: ",\"id\":")
    output.append(jsonString: change.changedObjectID.reference.text)
    switch change.changeType {
    case .insert: break
    case .update: append(change.updatedProperties, to: output)
    case .delete: append(change.tombstone, to: output)
    }
    output.append(ascii: "}")
  }

  private static func append(_ properties: [String], to output: GrowableBytes) {
    output.append(text: ",\"properties\":[")
    for (place, name) in properties.enumerated() {
      if place > 0 { output.append(ascii: ",") }
      output.append(jsonString: name)
    }
    output.append(ascii: "]")
  }

  /// Appends the values, sorted by name.
  private static func append(_ tombstone: [String: PropertyValue], to output: GrowableBytes) {
    output.append(text: ",\"tombstone\":{")
    for (place, (name, value)) in tombstone.sorted(by: { $0.key < $1.key }).enumerated() {
      if place > 0 { output.append(ascii: ",") }
      output.append(jsonString: name)
      output.append(ascii: ":")
      append(value, to: output)
    }
    output.append(ascii: "}")
  }

  private static func append(_ value: PropertyValue, to output: GrowableBytes) {
    switch value {
    case .null, .toOne, .toMany: output.append(text: "null")
    case .integer(let number): output.append(digitsOf: number)
    case .decimal: output.append(jsonString: value.text(of: .decimal) ?? "")
    case .double(let number): append(NumberText.text(of: number), isNumber: number.isFinite, to: output)
    case .float(let number): append(NumberText.text(of: number), isNumber: number.isFinite, to: output)
    case .string(let text): output.append(jsonString: text)
    case .boolean(let flag): output.append(text: flag ? "true" : "false")
    case .date(let date):
      output.append(ascii: "\"")
      RecordDate.append(date.timeIntervalSinceReferenceDate, to: output)
      output.append(ascii: "\"")
    case .binary(let data): output.append(jsonString: data.base64EncodedString())
    case .uuid(let uuid): output.append(jsonString: uuid.uuidString)
    case .uri(let url): output.append(jsonString: url.absoluteString)
    }
  }

  private static func append(_ number: String, isNumber: Bool, to output: GrowableBytes) {
    if isNumber { output.append(text: number) } else { output.append(jsonString: number) }
  }
}
