// MARK: Beside the properties of an entity

extension ModelComparison {
  /// Compares what an entity says of fetches, and of attributes that belong together: no store depends on it.
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
  /// All that it says but its name.
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
  /// All that it says but its name and notes.
  fileprivate var summary: String {
    let parts = elements.map { "\($0.name): \($0.attributeName)" }
    return "\(compositeName) (\(parts.joined(separator: ", ")))"
  }
}

extension FetchIndexDescription {
  /// All that it says.
  fileprivate var summary: String {
    let condition = partialIndexPredicate.map { " where \($0)" } ?? ""
    return "\(name) (\(elements.map(\.summary).joined(separator: ", "))\(condition))"
  }
}

extension FetchIndexElementDescription {
  /// All that it says.
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
