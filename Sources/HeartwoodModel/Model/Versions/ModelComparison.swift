/// Walks over two versions of a model and writes down what differs.
struct ModelComparison {
  let old: ManagedObjectModel
  let new: ManagedObjectModel
  private(set) var changes: [ModelChange] = []
  /// The old entity of each new one, by name.
  private var oldNames: [String: String] = [:]
  /// What the properties of each entity that is in both versions were, the inherited ones included, by the entity's new name.
  private var formers: [String: FormerProperties] = [:]

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
      guard let place else { continue }
      oldNames[entity.name] = old.entities[place].name
      formers[entity.name] = FormerProperties(of: entity, in: old.entities[place])
    }
    for (entity, place) in zip(new.entities, match.oldPlaces) {
      if let place { compare(old.entities[place], entity) } else { add(ModelChange(.added, entity.name, "")) }
    }
    for place in match.removed { add(ModelChange(.removed, old.entities[place].name, "")) }
    compareRest()
  }

  /// The name that the entity called `name` had in the old model; nil for one that is new, also where another had its name.
  func formerName(of name: String) -> String? { oldNames[name] }

  mutating func add(_ change: ModelChange) {
    changes.append(change)
  }

  /// Clears the obstacles of the changes since `count`, since no store keeps the property now. If none kept it before either, marks them
  /// as not changing stores.
  mutating func takeBackObstacles(since count: Int, changesStores: Bool) {
    for place in changes[count...].indices {
      let change = changes[place]
      changes[place] = ModelChange(
        change.kind,
        change.path,
        change.detail,
        changesStores: change.changesStores && changesStores
      )
    }
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

  /// Notes that the identifier differs of what has the same name; a new name says more than where it comes from.
  mutating func noteIdentifier(
    _ oldName: String,
    _ old: String?,
    _ newName: String,
    _ new: String?,
    _ path: String
  ) {
    guard oldName == newName else { return }
    note("renaming identifier", path, old, new, changesStores: false, Self.text)
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
    noteIdentifier(old.name, old.renamingIdentifier, new.name, new.renamingIdentifier, path)
    compareBeside(old, new)
    note("user info", path, old.userInfo, new.userInfo, changesStores: false) { _ in "…" }
  }

  private func abstractObstacle(_ old: EntityDescription, _ new: EntityDescription) -> String? {
    new.isAbstract && !old.isAbstract ? "records of the entity would have nowhere to go" : nil
  }

  /// Parents may come and go; but entities that had no root in common cannot get one, for their records would have to be put together.
  private mutating func compareParents(_ old: EntityDescription, _ new: EntityDescription) {
    let former = new.superentity.flatMap { formerName(of: $0.name) }
    guard old.superentity?.name != former || (former == nil && new.superentity != nil) else { return }
    let formerRoot = oldNames[new.rootEntity.name].flatMap { self.old.entity(named: $0) }?.rootEntity
    let isJoined = formerRoot.map { $0 !== old.rootEntity } ?? false
    let obstacle = "it joins the hierarchy of another entity, with which it shared no ancestor"
    let detail = "parent: \(old.superentity?.name ?? "none") → \(new.superentity?.name ?? "none")"
    add(ModelChange(.changed, new.name, detail, obstacle: isJoined ? obstacle : nil))
  }

  private mutating func compareProperties(_ old: EntityDescription, _ new: EntityDescription) {
    guard let former = formers[new.name] else { return }
    // Inherited properties count: one may move along the hierarchy. What is told of the parent is not told again.
    for property in new.properties where !isToldOfParent(property.name, of: new, former) {
      let path = "\(new.name).\(property.name)"
      if let place = former.places[property.name] {
        compare(old.properties[place], property, path)
      } else {
        let obstacle = self.obstacle(against: property).flatMap { isMissed(property.name, in: new) ? $0 : nil }
        add(ModelChange(.added, path, "", obstacle: obstacle, changesStores: !property.isTransient))
      }
    }
    let formerOwn = Set(old.definition.properties.map(\.name))
    for place in former.removed where formerOwn.contains(old.properties[place].name) {
      let property = old.properties[place]
      add(ModelChange(.removed, "\(old.name).\(property.name)", "", changesStores: !property.isTransient))
    }
  }

  /// Whether the parent's property came from the same place in the old model, or from none, as this did.
  private func isToldOfParent(_ name: String, of entity: EntityDescription, _ former: FormerProperties) -> Bool {
    guard let parent = entity.superentity, parent.property(named: name) != nil, let other = formers[parent.name] else {
      return false
    }
    return other.origins[name] == former.origins[name]
  }

  /// Whether records have no value that becomes the property's: those of the entity and of its subentities.
  private func isMissed(_ name: String, in entity: EntityDescription) -> Bool {
    ([entity.ordinal] + entity.subentityOrdinals).contains { ordinal in
      let candidate = new.entities[ordinal]
      guard !candidate.isAbstract, let former = formers[candidate.name] else { return false }
      return former.hasRecords && former.places[name] == nil
    }
  }

  private func obstacle(against property: PropertyDescription) -> String? {
    guard !property.mayBeEmpty, !property.isTransient else { return nil }
    switch property {
    case .attribute(let attribute) where attribute.defaultValue.isNull && attribute.derivationExpression == nil:
      return "it is required and has no default value for the records that are there"
    case .attribute: return nil
    case .relationship: return "it is required, and the records that are there have nothing for it"
    }
  }
}

/// What the properties of an entity were in the old version of it.
private struct FormerProperties {
  /// Where a property was declared, and under which name.
  struct Origin: Hashable {
    let entity: String
    let name: String
  }

  /// The ordinal in the old entity, by new name; none for what is new.
  private(set) var places: [String: Int] = [:]
  /// What is declared where in the old model, by new name.
  private(set) var origins: [String: Origin] = [:]
  /// The ordinals of old properties that are gone.
  let removed: [Int]
  /// Whether there may be records of the old entity itself.
  let hasRecords: Bool

  init(of new: EntityDescription, in old: EntityDescription) {
    let match = RenamingMatch(
      old: old.properties.map { ($0.name, $0.renamingIdentifier) },
      new: new.properties.map { ($0.name, $0.renamingIdentifier) }
    )
    removed = match.removed
    hasRecords = !old.isAbstract
    for (property, place) in zip(new.properties, match.oldPlaces) {
      guard let place else { continue }
      places[property.name] = place
      let declaring = Self.entity(declaring: place, from: old)
      origins[property.name] = Origin(entity: declaring.name, name: old.properties[place].name)
    }
  }

  /// Inherited properties come first, so the ordinal tells how far up one is declared.
  private static func entity(declaring ordinal: Int, from entity: EntityDescription) -> EntityDescription {
    var entity = entity
    while let parent = entity.superentity, ordinal < parent.properties.count { entity = parent }
    return entity
  }
}
