import Heartwood

extension ModelEditor {
  /// Changes something; nil where that cannot be.
  mutating func edit() -> String? {
    let edits: [(inout ModelEditor) -> String?] = [
      { $0.renameProperty() }, { $0.renameProperty() }, { $0.reuseName() }, { $0.swapProperties() },
      { $0.removeProperty() }, { $0.newAttribute() }, { $0.changeOptionality() }, { $0.changeType() },
      { $0.moveUp() }, { $0.moveUp() }, { $0.mergeUp() }, { $0.mergeUp() }, { $0.moveDown() }, { $0.moveDown() },
      { $0.changeTransience() },
      { $0.addLink() }, { $0.addInverse() }, { $0.joinLinks() }, { $0.changeCount() }, { $0.changeOrder() },
      { $0.widen() },
      { $0.renameEntity() }, { $0.swapEntities() }, { $0.newEntity() }, { $0.removeEntity() },
      { $0.insertParent() }, { $0.insertParent() }, { $0.changeParent() }, { $0.makeConcrete() },
      { $0.chance(6) ? $0.makeObstacle() : nil },
    ]
    return pick(edits)?(&self)
  }

  // MARK: Names

  /// Gives a property another name. What leads from the old one is its name, or the identifier that it has had since another version.
  mutating func rename(_ property: ModelDraft.Property, to name: String) -> String {
    let isUsed = former.entities.flatMap(\.properties).contains { $0.name == property.identifier }
    let keepsIdentifier = property.identifier != nil && !isUsed && chance(2)
    draft.change(property.id) {
      $0.name = name
      if !keepsIdentifier { $0.identifier = $0.formerName == name ? nil : $0.formerName }
    }
    return "renames \(property.name) to \(name)"
  }

  private mutating func renameProperty() -> String? {
    guard let property = property() else { return nil }
    // Sometimes the name that another had is free.
    let names = former.entities.flatMap(\.properties).map(\.name)
    let isFree = { (name: String) in !draft.entities.flatMap(\.properties).contains { $0.name == name } }
    let name = property.origins.isEmpty || !chance(3) ? nil : pick(names.filter(isFree))
    let new = name ?? newName("p")
    // A name without an identifier would stand for what had it.
    if property.origins.isEmpty, name != nil { return nil }
    return rename(property, to: new)
  }

  /// A property gets another name, and a new one its old name.
  private mutating func reuseName() -> String? {
    guard let property = property(), property.origins.count == 1, property.name == property.formerName,
      let owner = draft.owner(of: property.id), former.owner(of: property.id) == owner, !isCopied(property)
    else { return nil }
    let name = newName("p")
    draft.change(property.id) { ($0.name, $0.identifier) = (name, $0.formerName) }
    addAttribute(to: owner, name: property.name)
    return "renames \(property.name) to \(name), and adds another \(property.name)"
  }

  /// Whether there are several properties of the name, in one version or the other.
  private func isCopied(_ property: ModelDraft.Property) -> Bool {
    [draft, former].contains { model in
      model.entities.flatMap(\.properties).filter { $0.name == property.name }.count > 1
    }
  }

  private mutating func swapProperties() -> String? {
    guard let entity = entity(), let first = pick(draft.properties(of: entity.id)),
      let second = pick(draft.properties(of: entity.id)), first.id != second.id,
      !first.origins.isEmpty, !second.origins.isEmpty, !isCopied(first), !isCopied(second)
    else { return nil }
    for (property, name) in [(first, second.name), (second, first.name)] {
      draft.change(property.id) { ($0.name, $0.identifier) = (name, $0.formerName == name ? nil : $0.formerName) }
    }
    return "swaps \(first.name) and \(second.name)"
  }

  // MARK: Attributes

  private mutating func removeProperty() -> String? {
    guard let property = property() else { return nil }
    if case .link(let link) = property.kind, let inverse = link.inverse, chance(2) { draft.remove(inverse) }
    draft.remove(property.id)
    return "removes \(property.name)"
  }

  private mutating func newAttribute() -> String? {
    guard let entity = entity() else { return nil }
    let id = addAttribute(to: entity.id)
    return "adds \(draft.property(id)?.name ?? "") to \(entity.name)"
  }

  private mutating func changeOptionality() -> String? {
    guard let (property, attribute) = attribute() else { return nil }
    let value = attribute.defaultValue.isNull ? value(of: attribute.type) : attribute.defaultValue
    draft.changeAttribute(property.id) {
      $0.isOptional.toggle()
      if !$0.isOptional { $0.defaultValue = value }
    }
    return "makes \(property.name) \(attribute.isOptional ? "required" : "optional")"
  }

  private mutating func changeType() -> String? {
    guard let (property, attribute) = attribute() else { return nil }
    let formerTypes = property.origins.compactMap { former.property($0) }.compactMap { property in
      if case .attribute(let attribute) = property.kind { attribute.type } else { nil }
    }
    let types = AttributeType.allCases.filter { type in formerTypes.allSatisfy { $0.converts(to: type) } }
    guard let type = pick(types), type != attribute.type else { return nil }
    let value = value(of: type)
    draft.changeAttribute(property.id) { attribute in
      attribute.type = type
      attribute.defaultValue = attribute.isOptional ? .null : value
    }
    return "makes \(property.name) \(type)"
  }

  /// What becomes transient is no longer kept, and what was transient begins with its default value.
  private mutating func changeTransience() -> String? {
    guard let (property, attribute) = attribute(), !isTable else { return nil }
    let value = value(of: attribute.type)
    draft.changeAttribute(property.id) {
      $0.isTransient.toggle()
      if !$0.isTransient, !$0.isOptional, $0.defaultValue.isNull { $0.defaultValue = value }
    }
    return "makes \(property.name) \(attribute.isTransient ? "stored" : "transient")"
  }
}
