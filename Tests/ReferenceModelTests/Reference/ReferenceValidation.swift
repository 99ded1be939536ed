import HeartwoodModel

/// Something that keeps an object from being saved.
struct ReferenceProblem: Hashable {
  let key: Key
  let property: String
  /// The name of the kind of fault.
  let kind: String
}

extension ReferenceProblem: CustomStringConvertible {
  var description: String { "#\(key).\(property) \(kind)" }
}

extension ReferenceContext {
  func validationProblems() -> Set<ReferenceProblem> {
    var problems: Set<ReferenceProblem> = []
    // A lost object is a conflict, whatever its values are.
    for (key, object) in objects where object.hasChanges && !object.isLost && !isGone(key, object) {
      let kinds = object.isDeleted ? deletionProblems(key, object) : valueProblems(object)
      for (property, kind) in kinds { problems.insert(ReferenceProblem(key: key, property: property, kind: kind)) }
    }
    return problems
  }

  /// Whether a deleted object was one that only the parent had, and it has it no longer.
  private func isGone(_ key: Key, _ object: ReferenceObject) -> Bool {
    object.isDeleted && object.base?.isUnsaved == true && source.record(key) == nil
  }

  /// A relationship that denies the deletion of its object must not lead to an object that stays, and leads back.
  private func deletionProblems(_ key: Key, _ object: ReferenceObject) -> [(String, String)] {
    object.entity.relationships.filter { relationship in
      relationship.deleteRule == .deny
        && object.keys(relationship.name).contains { target in
          guard let other = self.object(target), !other.isDeleted else { return false }
          return relationship.inverseName.map { keysOnceSaved(of: target, other, $0).contains(key) } ?? true
        }
    }.map { ($0.name, "deletionDenied") }
  }

  /// What a relationship leads to once the save is done: what is not changed here is as the newest record has it.
  private func keysOnceSaved(of key: Key, _ object: ReferenceObject, _ name: String) -> [Key] {
    let isOwn = object.isInserted || object.changedValues[name] != nil || object.transientNames.contains(name)
    return isOwn ? object.keys(name) : source.record(key)?.values[name]?.keys ?? []
  }

  private func valueProblems(_ object: ReferenceObject) -> [(String, String)] {
    let values = valuesToSave(object)
    return object.entity.properties.flatMap { property -> [(String, String)] in
      guard let value = values[property.name] else { return [] }
      switch property {
      case .attribute(let attribute): return problems(value, attribute).map { (property.name, $0) }
      case .relationship(let relationship): return problems(value.keys.count, relationship).map { (property.name, $0) }
      }
    }
  }

  private func problems(_ count: Int, _ relationship: RelationshipDescription) -> [String] {
    if count == 0 {
      let mayBeEmpty = relationship.isOptional || (relationship.isToMany && relationship.minCount == 0)
      return mayBeEmpty ? [] : ["missingValue"]
    }
    if count < relationship.minCount { return ["tooFew"] }
    return relationship.maxCount > 0 && count > relationship.maxCount ? ["tooMany"] : []
  }

  private func problems(_ value: ReferenceValue, _ attribute: AttributeDescription) -> [String] {
    guard case .attribute(let value) = value else { return [] }
    let rules = attribute.rules
    switch value {
    case .null: return attribute.isOptional ? [] : ["missingValue"]
    case .integer(let number):
      if case .integer(let least) = rules.minValue, number < least { return ["tooSmall"] }
      if case .integer(let greatest) = rules.maxValue, number > greatest { return ["tooGreat"] }
      return []
    case .string(let text):
      if let least = rules.minLength, text.utf16.count < least { return ["tooShort"] }
      if let greatest = rules.maxLength, text.utf16.count > greatest { return ["tooLong"] }
      return []
    default: return []
    }
  }
}
