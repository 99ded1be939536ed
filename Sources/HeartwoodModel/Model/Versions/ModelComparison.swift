/// Compares two versions of a model and collects the differences.
struct ModelComparison {
  let old: ManagedObjectModel
  let new: ManagedObjectModel
  private(set) var changes: [ModelChange] = []
  /// The name of the old entity for each new one, by name.
  private var oldNames: [String: String] = [:]
  /// The old properties of each entity that is in both versions, including the inherited ones, by the entity's new
  /// name.
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

  /// Returns the name of an entity in the old model; nil if the entity is new, even if another entity had its name.
  func formerName(of name: String) -> String? { oldNames[name] }

  mutating func add(_ change: ModelChange) {
    changes.append(change)
  }

  /// Removes the obstacles of the changes since `count`, because no store keeps the property now. If no store kept it
  /// before either, the changes are marked as not changing stores.
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

  /// Adds a change of `path` if the two values are different.
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

  /// Adds a change if the renaming identifier differs and the name does not. A new name is a change of its own, which
  /// covers the identifier.
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
    new.isAbstract && !old.isAbstract ? "there would be no entity for its records" : nil
  }

  /// Compares the parents. An entity may get or lose one. But entities without a common root cannot get one, because
  /// their records would have to be merged.
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
    // Inherited properties count: one may move within the hierarchy. Changes that are reported for the parent are not
    // repeated.
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

  /// Returns whether the parent's property has the same origin in the old model as this one, or neither has any.
  private func isToldOfParent(_ name: String, of entity: EntityDescription, _ former: FormerProperties) -> Bool {
    guard let parent = entity.superentity, parent.property(named: name) != nil, let other = formers[parent.name] else {
      return false
    }
    return other.origins[name] == former.origins[name]
  }

  /// Returns whether records of the entity or its subentities have no value for the property.
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
      return "it is required and has no default value for existing records"
    case .attribute: return nil
    case .relationship: return "it is required, and existing records have no objects for it"
    }
  }
}

/// The properties of an entity in the old version of the model.
private struct FormerProperties {
  /// The entity that declares a property, and the name there.
  struct Origin: Hashable {
    let entity: String
    let name: String
  }

  /// The ordinals in the old entity, by new name; none for a new property.
  private(set) var places: [String: Int] = [:]
  /// The declarations in the old model, by new name.
  private(set) var origins: [String: Origin] = [:]
  /// The ordinals of the removed properties.
  let removed: [Int]
  /// Whether the old entity itself may have records.
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

  /// Returns the ancestor that declares a property. Inherited properties come first, so the ordinal shows it.
  private static func entity(declaring ordinal: Int, from entity: EntityDescription) -> EntityDescription {
    var entity = entity
    while let parent = entity.superentity, ordinal < parent.properties.count { entity = parent }
    return entity
  }
}
