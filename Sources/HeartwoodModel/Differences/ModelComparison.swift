/// Walks over two versions of a model and writes down what differs.
struct ModelComparison {
  let old: ManagedObjectModel
  let new: ManagedObjectModel
  private(set) var changes: [ModelChange] = []
  /// The old entity of each new one, by name.
  private var oldNames: [String: String] = [:]

  init(_ old: ManagedObjectModel, _ new: ManagedObjectModel) {
    self.old = old
    self.new = new
  }

  mutating func compare() {
    let match = RenamingMatch(
      old: old.entities.map { ($0.name, $0.renamingIdentifier) },
      new: new.entities.map { ($0.name, $0.renamingIdentifier) }
    )
    for (entity, place) in zip(new.entities, match.oldPlaces) {
      if let place { oldNames[entity.name] = old.entities[place].name }
    }
    for (entity, place) in zip(new.entities, match.oldPlaces) {
      if let place { compare(old.entities[place], entity) } else { add(ModelChange(.added, entity.name, "")) }
    }
    for place in match.removed { add(ModelChange(.removed, old.entities[place].name, "")) }
    compareRest()
  }

  /// The name that the entity called `name` had in the old model.
  func formerName(of name: String) -> String { oldNames[name] ?? name }

  mutating func add(_ change: ModelChange) {
    changes.append(change)
  }

  /// Notes that something that is said of `path` differs, if it does.
  mutating func note<Value: Equatable>(
    _ title: String,
    _ path: String,
    _ old: Value,
    _ new: Value,
    changesStores: Bool = true,
    obstacle: String? = nil,
    _ text: (Value) -> String = { "\($0)" }
  ) {
    guard old != new else { return }
    let detail = "\(title): \(text(old)) → \(text(new))"
    add(ModelChange(.changed, path, detail, obstacle: obstacle, changesStores: changesStores))
  }

  static func word(_ flag: Bool) -> String { flag ? "yes" : "no" }

  static func text(_ text: String?) -> String { text.map { "“\($0)”" } ?? "none" }
}

// MARK: Entities

extension ModelComparison {
  private mutating func compare(_ old: EntityDescription, _ new: EntityDescription) {
    let path = new.name
    if old.name != new.name { add(ModelChange(.renamed, path, "was \(old.name)")) }
    note("abstract", path, old.isAbstract, new.isAbstract, obstacle: abstractObstacle(old, new), Self.word)
    compareParents(old, new)
    let sameClass = old.managedObjectClassName == new.managedObjectClassName
    if !sameClass {
      note("class", path, old.managedObjectClassName, new.managedObjectClassName, changesStores: false, Self.text)
    }
    compareProperties(old, new)
    let constraints = [old, new].map { $0.definition.uniquenessConstraints }
    note("uniqueness", path, constraints[0], constraints[1]) {
      $0.map { $0.joined(separator: "+") }.joined(separator: ", ")
    }
    note("version hash modifier", path, old.versionHashModifier, new.versionHashModifier, Self.text)
    note("indexes", path, old.definition.fetchIndexes, new.definition.fetchIndexes, changesStores: false) {
      $0.map(\.name).joined(separator: ", ")
    }
    note("user info", path, old.userInfo, new.userInfo, changesStores: false) { _ in "…" }
  }

  private func abstractObstacle(_ old: EntityDescription, _ new: EntityDescription) -> String? {
    new.isAbstract && !old.isAbstract ? "records of the entity would have nowhere to go" : nil
  }

  /// Parents may come and go; but entities that had no root in common cannot get one, for their records would have to be put together.
  private mutating func compareParents(_ old: EntityDescription, _ new: EntityDescription) {
    let renamed = new.superentity.map { oldNames[$0.name] ?? $0.name }
    guard old.superentity?.name != renamed else { return }
    let formerRoot = oldNames[new.rootEntity.name].flatMap { self.old.entity(named: $0) }?.rootEntity
    let isJoined = formerRoot.map { $0 !== old.rootEntity } ?? false
    let obstacle = "it joins the hierarchy of another entity, with which it shared no ancestor"
    let detail = "parent: \(old.superentity?.name ?? "none") → \(new.superentity?.name ?? "none")"
    add(ModelChange(.changed, new.name, detail, obstacle: isJoined ? obstacle : nil))
  }

  private mutating func compareProperties(_ old: EntityDescription, _ new: EntityDescription) {
    // Inherited properties count: one may move along the hierarchy. What is told of them is told where they are declared.
    let match = RenamingMatch(
      old: old.properties.map { ($0.name, $0.renamingIdentifier) },
      new: new.properties.map { ($0.name, $0.renamingIdentifier) }
    )
    let own = Set(new.definition.properties.map(\.name))
    for (property, place) in zip(new.properties, match.oldPlaces) where own.contains(property.name) {
      let path = "\(new.name).\(property.name)"
      if let place {
        compare(old.properties[place], property, path)
      } else {
        add(ModelChange(.added, path, "", obstacle: obstacle(against: property), changesStores: !property.isTransient))
      }
    }
    let formerOwn = Set(old.definition.properties.map(\.name))
    for place in match.removed where formerOwn.contains(old.properties[place].name) {
      let property = old.properties[place]
      add(ModelChange(.removed, "\(old.name).\(property.name)", "", changesStores: !property.isTransient))
    }
  }

  private func obstacle(against property: PropertyDescription) -> String? {
    guard !property.isOptional, !property.isTransient else { return nil }
    switch property {
    case .attribute(let attribute) where attribute.defaultValue.isNull && attribute.derivationExpression == nil:
      return "it is required and has no default value for the records that are there"
    case .attribute: return nil
    case .relationship: return "it is required, and the records that are there have nothing for it"
    }
  }
}

// MARK: Beside the entities

extension ModelComparison {
  private mutating func compareRest() {
    for name in Set(old.configurations.keys).union(new.configurations.keys).sorted() {
      let (before, after) = (old.configurations[name], new.configurations[name])
      note("entities", "configuration \(name)", before, after, changesStores: false) {
        $0?.joined(separator: ", ") ?? "none"
      }
    }
    let names = (old.fetchRequestTemplates + new.fetchRequestTemplates).map(\.name)
    for name in Set(names).sorted() {
      let (before, after) = (old.fetchRequestTemplate(named: name), new.fetchRequestTemplate(named: name))
      note("predicate", "fetch request \(name)", before, after, changesStores: false) {
        $0.map { $0.predicate?.description ?? "all" } ?? "none"
      }
    }
    note("version identifiers", "model", old.versionIdentifiers, new.versionIdentifiers, changesStores: false) {
      $0.joined(separator: ", ")
    }
  }
}
