import Heartwood

// MARK: Properties that move

extension ModelEditor {
  /// A property moves to the parent of its entity. Others that get it have its default value, or nothing.
  mutating func moveUp() -> String? {
    guard let entity = entity(), let parent = draft.entity(entity.parent), let property = pick(entity.properties),
      !draft.kinds(of: parent.id).contains(where: { holds(property, $0) && !draft.isKind($0.id, of: entity.id) })
    else { return nil }
    move(property, from: entity.id, to: parent.id)
    return "moves \(property.name) up from \(entity.name) to \(parent.name)"
  }

  /// Whether an entity has, or had, another property of the name, or of the name that it had.
  private func holds(_ property: ModelDraft.Property, _ entity: ModelDraft.Entity) -> Bool {
    let names = [property.name, property.formerName, property.identifier].compactMap(\.self)
    let other = former.entity(entity.id).map { former.properties(of: $0.id) } ?? []
    return (entity.properties + other).contains { other in
      other.id != property.id && [other.name, other.formerName, other.identifier].contains { names.contains($0 ?? "") }
    }
  }

  private mutating func move(_ property: ModelDraft.Property, from entity: Int, to parent: Int) {
    draft.change(entity: entity) { $0.properties.removeAll { $0.id == property.id } }
    draft.change(entity: parent) { $0.properties.append(property) }
    switch property.kind {
    case .attribute(let attribute):
      let value = attribute.defaultValue.isNull ? value(of: attribute.type) : attribute.defaultValue
      draft.changeAttribute(property.id) { if !$0.isOptional { $0.defaultValue = value } }
    case .link(let link): draft.changeLink(link.inverse) { $0.destination = parent }
    }
  }

  /// The same attribute of two sibling entities moves to their parent.
  mutating func mergeUp() -> String? {
    guard let parent = entity() else { return nil }
    let children = draft.entities.filter { $0.parent == parent.id }.shuffled(using: &generator)
    guard children.count > 1 else { return nil }
    for property in children[0].properties {
      guard case .attribute(let attribute) = property.kind, property.name == property.formerName,
        let twin = children[1].properties.first(where: { isTwin($0, property) })
      else { continue }
      let others = children.dropFirst(2).flatMap(\.properties)
      guard !others.contains(where: { $0.name == property.name }) else { continue }
      draft.remove(twin.id)
      move(property, from: children[0].id, to: parent.id)
      draft.change(property.id) { $0.origins.formUnion(twin.origins) }
      // Where all that can have objects had it, no default value is needed.
      let hasOthers = !parent.isAbstract || children.count > 2
      if !hasOthers, chance(2) { draft.changeAttribute(property.id) { $0.defaultValue = attribute.defaultValue } }
      return "moves \(property.name) up from \(children[0].name) and \(children[1].name) to \(parent.name)"
    }
    return nil
  }

  private func isTwin(_ property: ModelDraft.Property, _ other: ModelDraft.Property) -> Bool {
    guard property.name == other.name, property.name == property.formerName,
      case .attribute(let attribute) = property.kind, case .attribute(let twin) = other.kind
    else { return false }
    return attribute.type == twin.type && attribute.isTransient == twin.isTransient
      && (attribute.isOptional ? twin.isOptional : !twin.isOptional)
  }

  /// A property moves to some of the children of its entity; a relationship with an inverse cannot.
  mutating func moveDown() -> String? {
    guard let entity = entity(), let property = pick(entity.properties) else { return nil }
    if case .link(let link) = property.kind, link.inverse != nil { return nil }
    let children = draft.entities.filter { $0.parent == entity.id }.shuffled(using: &generator)
    guard !children.isEmpty else { return nil }
    draft.change(entity: entity.id) { $0.properties.removeAll { $0.id == property.id } }
    for child in children.prefix(number(1...children.count)) {
      let copy = ModelDraft.Property(
        id: draft.newID(),
        origins: property.origins,
        name: property.name,
        formerName: property.formerName,
        identifier: property.identifier,
        kind: property.kind
      )
      draft.change(entity: child.id) { $0.properties.append(copy) }
    }
    return "moves \(property.name) down from \(entity.name)"
  }
}

// MARK: Relationships

extension ModelEditor {
  mutating func addInverse() -> String? {
    guard let (owner, property, link) = pick(draft.links), link.inverse == nil else { return nil }
    let id = draft.newID()
    let back = ModelDraft.Link(destination: owner, inverse: property.id, isToMany: chance(2), isOrdered: chance(2))
    let name = newName("r")
    draft.change(entity: link.destination) { $0.properties.append(.init(id: id, name: name, kind: .link(back))) }
    draft.changeLink(property.id) { $0.inverse = id }
    return "gives \(property.name) the inverse \(name)"
  }

  /// Two relationships without an inverse become each other's.
  mutating func joinLinks() -> String? {
    let oneWay = draft.links.filter { $0.link.inverse == nil }
    guard let (owner, property, link) = pick(oneWay) else { return nil }
    let others = oneWay.filter {
      $0.property.id != property.id && $0.owner == link.destination && $0.link.destination == owner
    }
    guard let other = pick(others)?.property else { return nil }
    draft.changeLink(property.id) { $0.inverse = other.id }
    draft.changeLink(other.id) { $0.inverse = property.id }
    return "lets \(property.name) and \(other.name) be inverses"
  }

  mutating func changeCount() -> String? {
    guard let (_, property, link) = pick(draft.links) else { return nil }
    draft.changeLink(property.id) { $0.isToMany.toggle() }
    return "makes \(property.name) \(link.isToMany ? "to-one" : "to-many")"
  }

  mutating func changeOrder() -> String? {
    guard let (_, property, link) = pick(draft.links), link.isToMany else { return nil }
    draft.changeLink(property.id) { $0.isOrdered.toggle() }
    return "makes \(property.name) \(link.isOrdered ? "unordered" : "ordered")"
  }

  /// A relationship without an inverse leads to the parent of what it led to.
  mutating func widen() -> String? {
    guard let (_, property, link) = pick(draft.links), link.inverse == nil,
      let parent = draft.entity(link.destination)?.parent
    else { return nil }
    // A new entity is in no version before, so that it is not known as a parent there.
    guard former.entity(parent) != nil, former.isKind(link.destination, of: parent) else { return nil }
    draft.changeLink(property.id) { $0.destination = parent }
    return "lets \(property.name) lead to \(draft.entity(parent)?.name ?? "")"
  }
}
