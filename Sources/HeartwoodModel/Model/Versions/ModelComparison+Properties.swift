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
    let obstacle = "values of the old type are not converted to the new one automatically"
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
      let obstacle = "records that it refers to are of another entity"
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

  /// Returns whether records of a relationship's old destination also belong to the entity that had this name.
  private func isAncestor(_ name: String, of relationship: RelationshipDescription) -> Bool {
    guard let former = old.entity(named: relationship.destinationEntityName), let other = old.entity(named: name) else {
      return false
    }
    return former.isKind(of: other)
  }
}

extension AttributeRules {
  /// Returns the rules in a few words.
  fileprivate func summary(of type: AttributeType) -> String {
    let parts = [
      minValue.text(of: type).map { "≥ \($0)" }, maxValue.text(of: type).map { "≤ \($0)" },
      minLength.map { "length ≥ \($0)" }, maxLength.map { "length ≤ \($0)" }, pattern.map { "matches \($0)" },
    ]
    let texts = parts.compactMap(\.self) + predicates.map { "\($0.predicate)" }
    return texts.isEmpty ? "none" : texts.joined(separator: ", ")
  }
}

// MARK: Beside

// MARK: Beside the properties of an entity

extension ModelComparison {
  /// Compares the fetch indexes, fetched properties and composite attributes of an entity, on which no store depends.
  mutating func compareBeside(_ old: EntityDescription, _ new: EntityDescription) {
    let (old, new, path) = (old.definition, new.definition, new.name)
    note("indexes", path, old.fetchIndexes, new.fetchIndexes, changesStores: false) {
      $0.isEmpty ? "none" : $0.map(\.summary).joined(separator: ", ")
    }
    for name in Self.names(old.fetchedProperties.map(\.name) + new.fetchedProperties.map(\.name)) {
      let parts = [old, new].map { definition in definition.fetchedProperties.first { $0.name == name } }
      compare(parts[0], parts[1], "\(path).\(name)")
    }
    for name in Self.names(old.compositeAttributes.map(\.name) + new.compositeAttributes.map(\.name)) {
      let parts = [old, new].map { definition in definition.compositeAttributes.first { $0.name == name } }
      compare(parts[0], parts[1], "\(path).\(name)")
    }
  }

  private static func names(_ names: [String]) -> [String] { Set(names).sorted() }

  private mutating func compare(
    _ old: FetchedPropertyDescription?,
    _ new: FetchedPropertyDescription?,
    _ path: String
  ) {
    note("fetched property", path, old?.fetchRequest.summary, new?.fetchRequest.summary, changesStores: false) {
      $0 ?? "none"
    }
    guard let old, let new else { return }
    note("fetch request", path, old.fetchRequest.name, new.fetchRequest.name, changesStores: false)
    note("optional", path, old.isOptional, new.isOptional, changesStores: false, Self.word)
    noteIdentifier(old.name, old.renamingIdentifier, new.name, new.renamingIdentifier, path)
    let modifiers = [old.versionHashModifier, new.versionHashModifier]
    note("version hash modifier", path, modifiers[0], modifiers[1], changesStores: false, Self.text)
    note("user info", path, old.userInfo, new.userInfo, changesStores: false) { _ in "…" }
  }

  private mutating func compare(
    _ old: CompositeAttributeDescription?,
    _ new: CompositeAttributeDescription?,
    _ path: String
  ) {
    note("composite attribute", path, old?.summary, new?.summary, changesStores: false) { $0 ?? "none" }
    guard let old, let new else { return }
    note("user info", path, old.userInfo, new.userInfo, changesStores: false) { _ in "…" }
  }
}

// MARK: Beside the entities

extension ModelComparison {
  mutating func compareRest() {
    for name in Self.names(Array(old.configurations.keys) + new.configurations.keys) {
      let (before, after) = (old.configurations[name], new.configurations[name])
      note("entities", "configuration \(name)", before, after, changesStores: false) {
        $0?.joined(separator: ", ") ?? "none"
      }
    }
    for name in Self.names((old.fetchRequestTemplates + new.fetchRequestTemplates).map(\.name)) {
      let summaries = [old, new].map { $0.fetchRequestTemplate(named: name)?.summary }
      note("fetch", "fetch request \(name)", summaries[0], summaries[1], changesStores: false) { $0 ?? "none" }
    }
    note("version identifiers", "model", old.versionIdentifiers, new.versionIdentifiers, changesStores: false) {
      $0.joined(separator: ", ")
    }
    let texts = [old.localizationDictionary, new.localizationDictionary]
    for key in Self.names(texts.flatMap(\.keys)) {
      note("localization of \(key)", "model", texts[0][key], texts[1][key], changesStores: false, Self.text)
    }
  }
}

// MARK: In a few words

extension FetchRequestTemplate {
  /// Everything in the description except its name.
  fileprivate var summary: String {
    let parts = [
      predicate.map { "\(entityName) where \($0)" } ?? "all \(entityName)",
      resultType == .objects ? nil : "as \(resultType.rawValue)",
      fetchLimit == 0 ? nil : "at most \(fetchLimit)",
      fetchBatchSize == 0 ? nil : "\(fetchBatchSize) at a time",
      includesSubentities ? nil : "without subentities",
      includesPropertyValues ? nil : "without property values",
      includesPendingChanges ? nil : "without pending changes",
      returnsObjectsAsFaults ? nil : "without faults",
      returnsDistinctResults ? "distinct" : nil,
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }
}

extension CompositeAttributeDescription {
  /// Everything in the description except its name and notes.
  fileprivate var summary: String {
    let parts = elements.map { "\($0.name): \($0.attributeName)" }
    return "\(compositeName) (\(parts.joined(separator: ", ")))"
  }
}

extension FetchIndexDescription {
  /// Everything in the description.
  fileprivate var summary: String {
    let condition = partialIndexPredicate.map { " where \($0)" } ?? ""
    return "\(name) (\(elements.map(\.summary).joined(separator: ", "))\(condition))"
  }
}

extension FetchIndexElementDescription {
  /// Everything in the description.
  fileprivate var summary: String {
    let title =
      switch subject {
      case .property(let name): name
      case .expression(let expression): expression.description
      }
    let collation = collationType == .binary ? "" : " as \(collationType.rawValue)"
    return title + (isAscending ? "" : " descending") + collation
  }
}
