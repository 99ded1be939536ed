package import HeartwoodModel
package import HeartwoodStore

/// Records as JSON, an object on each line: `$entity`, `$id`, the attributes and then the relationships in the order of the model.
///
/// Nil is `null`; integers, finite doubles and floats are numbers; booleans are `true` and `false`; everything else is a string,
/// decimal numbers and numbers that are not finite too, so that nothing is lost. A to-one relationship is a reference, and a
/// to-many one a list of them. The same records give the same bytes.
package struct RecordJSON: RecordFormatter {
  private struct Member {
    let value: ValueText
    /// A comma, the name in quotes, and a colon.
    let prefix: ByteSlice
  }

  /// Everything of a line before the reference.
  private let opening: ByteSlice
  private let members: [Member]

  /// - Parameter entities: those of the model, by whose names references are told that are of other entities than a relationship's.
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

  /// Appends the value of the property called `name`, which stores keep.
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
