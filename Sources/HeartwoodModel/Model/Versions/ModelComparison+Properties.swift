extension ModelComparison {
  mutating func compare(_ old: PropertyDescription, _ new: PropertyDescription, _ path: String) {
    let count = changes.count
    compareAsStored(old, new, path)
    if new.isTransient { takeBackObstacles(since: count, changesStores: !old.isTransient) }
  }

  private mutating func compareAsStored(_ old: PropertyDescription, _ new: PropertyDescription, _ path: String) {
    if old.name != new.name { add(ModelChange(.renamed, path, "was \(old.name)")) }
    let becomesRequired = old.isOptional && !new.mayBeEmpty
    let isFilled = new.attribute.map { !$0.defaultValue.isNull } ?? false
    note(
      "optional",
      path,
      old.isOptional,
      new.isOptional,
      obstacle: becomesRequired && !isFilled ? "it becomes required, and records may have no value" : nil,
      Self.word
    )
    let isMissing = old.isTransient && !new.isTransient && !new.mayBeEmpty && !isFilled
    note(
      "transient",
      path,
      old.isTransient,
      new.isTransient,
      obstacle: isMissing ? "it is required, and no store has its values yet" : nil,
      Self.word
    )
    switch (old, new) {
    case (.attribute(let old), .attribute(let new)): compare(old, new, path)
    case (.relationship(let old), .relationship(let new)): compare(old, new, path)
    default:
      let kinds = [old, new].map { $0.attribute == nil ? "relationship" : "attribute" }
      let obstacle = "what becomes of the values is not known"
      add(ModelChange(.changed, path, "kind: \(kinds[0]) → \(kinds[1])", obstacle: obstacle))
    }
    noteIdentifier(old.name, old.renamingIdentifier, new.name, new.renamingIdentifier, path)
    note("version hash modifier", path, old.versionHashModifier, new.versionHashModifier, Self.text)
    note("user info", path, old.userInfo, new.userInfo, changesStores: false) { _ in "…" }
  }

  private mutating func compare(_ old: AttributeDescription, _ new: AttributeDescription, _ path: String) {
    let obstacle = "values of one type do not become values of the other by themselves"
    note("type", path, old.type, new.type, obstacle: old.type.converts(to: new.type) ? nil : obstacle) { $0.rawValue }
    if old.type == new.type {
      note("default", path, old.defaultValue, new.defaultValue, changesStores: false) {
        $0.text(of: new.type) ?? "none"
      }
      note("rules", path, old.rules, new.rules, changesStores: false) { $0.summary(of: new.type) }
    }
    note("derivation", path, old.derivationExpression, new.derivationExpression, changesStores: false) {
      $0?.description ?? "none"
    }
    note(
      "external storage",
      path,
      old.allowsExternalBinaryDataStorage,
      new.allowsExternalBinaryDataStorage,
      Self.word
    )
    note(
      "preserved on deletion",
      path,
      old.preservesValueInHistoryOnDeletion,
      new.preservesValueInHistoryOnDeletion,
      Self.word
    )
    note("transformer", path, old.valueTransformerName, new.valueTransformerName, changesStores: false, Self.text)
    note("value class", path, old.attributeValueClassName, new.attributeValueClassName, changesStores: false, Self.text)
  }

  private mutating func compare(_ old: RelationshipDescription, _ new: RelationshipDescription, _ path: String) {
    let destination = formerName(of: new.destinationEntityName)
    if old.destinationEntityName != destination {
      let detail = "destination: \(old.destinationEntityName) → \(new.destinationEntityName)"
      let obstacle = "records that it leads to are of another entity"
      let isWider = destination.map { isAncestor($0, of: old) } ?? false
      add(ModelChange(.changed, path, detail, obstacle: isWider ? nil : obstacle))
    }
    note("inverse", path, old.inverseRelationshipName, new.inverseRelationshipName, Self.text)
    let areOneSided = [old.hasOneSidedInverse, new.hasOneSidedInverse]
    note("one-sided inverse", path, areOneSided[0], areOneSided[1], changesStores: false, Self.word)
    note("to-many", path, old.isToMany, new.isToMany, Self.word)
    note("ordered", path, old.isOrdered, new.isOrdered, Self.word)
    note("least count", path, old.minCount, new.minCount)
    if old.isToMany == new.isToMany { note("greatest count", path, old.maxCount, new.maxCount) }
    note("delete rule", path, old.deleteRule, new.deleteRule, changesStores: false) { $0.rawValue }
  }

  /// Whether records of a relationship's old destination are also of the entity that had this name.
  private func isAncestor(_ name: String, of relationship: RelationshipDescription) -> Bool {
    guard let former = old.entity(named: relationship.destinationEntityName), let other = old.entity(named: name) else {
      return false
    }
    return former.isKind(of: other)
  }
}

extension AttributeRules {
  /// The rules in a few words.
  fileprivate func summary(of type: AttributeType) -> String {
    let parts = [
      minValue.text(of: type).map { "≥ \($0)" }, maxValue.text(of: type).map { "≤ \($0)" },
      minLength.map { "length ≥ \($0)" }, maxLength.map { "length ≤ \($0)" }, pattern.map { "matches \($0)" },
    ]
    let texts = parts.compactMap(\.self) + predicates.map { "\($0.predicate)" }
    return texts.isEmpty ? "none" : texts.joined(separator: ", ")
  }
}
