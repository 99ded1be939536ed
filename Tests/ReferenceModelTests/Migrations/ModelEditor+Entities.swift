import Heartwood

extension ModelEditor {
  private mutating func rename(_ entity: ModelDraft.Entity, to name: String) {
    let isUsed = former.entities.contains { $0.name == entity.identifier }
    let keepsIdentifier = entity.identifier != nil && !isUsed && chance(2)
    draft.change(entity: entity.id) {
      $0.name = name
      if !keepsIdentifier { $0.identifier = $0.formerName == name ? nil : $0.formerName }
    }
  }

  mutating func renameEntity() -> String? {
    guard let entity = entity() else { return nil }
    let names = former.entities.map(\.name).filter { name in !draft.entities.contains { $0.name == name } }
    let reused = former.entity(entity.id) == nil || !chance(3) ? nil : pick(names)
    let name = reused ?? newName("E")
    rename(entity, to: name)
    return "renames \(entity.name) to \(name)"
  }

  mutating func swapEntities() -> String? {
    let known = draft.entities.filter { former.entity($0.id) != nil }.shuffled(using: &generator)
    guard known.count > 1 else { return nil }
    for (entity, name) in [(known[0], known[1].name), (known[1], known[0].name)] {
      draft.change(entity: entity.id) {
        ($0.name, $0.identifier) = (name, $0.formerName == name ? nil : $0.formerName)
      }
    }
    return "swaps \(known[0].name) and \(known[1].name)"
  }

  mutating func newEntity() -> String? {
    guard !isTable else { return nil }
    let id = addEntity(parent: chance(2) ? entity()?.id : nil)
    addAttribute(to: id)
    return "adds \(draft.entity(id)?.name ?? "")"
  }

  /// An entity goes with its properties and what leads to it; its children get its parent.
  mutating func removeEntity() -> String? {
    guard !isTable, draft.entities.count > 2, let entity = entity() else { return nil }
    for (_, property, link) in draft.links where link.destination == entity.id { draft.remove(property.id) }
    for property in entity.properties { draft.remove(property.id) }
    for child in draft.entities where child.parent == entity.id {
      draft.change(entity: child.id) { $0.parent = entity.parent }
    }
    draft.entities.removeAll { $0.id == entity.id }
    return "removes \(entity.name)"
  }

  /// A new entity comes between an entity and its parent, or above several that had none.
  mutating func insertParent() -> String? {
    guard !isTable, let entity = entity() else { return nil }
    let id = addEntity(parent: entity.parent, isAbstract: chance(2))
    let siblings = draft.entities.filter { $0.parent == entity.parent && $0.id != id && $0.id != entity.id }
    let others = chance(2) ? siblings.filter { _ in chance(2) } : []
    for child in [entity] + others { draft.change(entity: child.id) { $0.parent = id } }
    if chance(2) { addAttribute(to: id) }
    return "puts \(draft.entity(id)?.name ?? "") above \(([entity] + others).map(\.name).joined(separator: ", "))"
  }

  /// An entity goes under a sibling, under the parent of its parent, or under none.
  mutating func changeParent() -> String? {
    guard !isTable, let entity = entity(), let parent = draft.entity(entity.parent) else { return nil }
    let siblings = draft.entities.filter { $0.parent == parent.id && $0.id != entity.id }.map(\.id)
    let new = pick([parent.parent, nil] + siblings.map(Optional.some)) ?? nil
    draft.change(entity: entity.id) { $0.parent = new }
    return "puts \(entity.name) under \(draft.entity(new)?.name ?? "none")"
  }

  mutating func makeConcrete() -> String? {
    guard let entity = entity(), entity.isAbstract else { return nil }
    draft.change(entity: entity.id) { $0.isAbstract = false }
    return "makes \(entity.name) concrete"
  }

  /// Something from which nothing can be inferred.
  mutating func makeObstacle() -> String? {
    switch number(0...2) {
    case 0:
      guard let entity = pick(draft.entities.filter { !$0.isAbstract && former.entity($0.id)?.isAbstract == false })
      else { return nil }
      let id = addAttribute(to: entity.id)
      draft.changeAttribute(id) { ($0.isOptional, $0.isTransient, $0.defaultValue) = (false, false, .null) }
      obstacle = "a required attribute comes without a default value"
    case 1:
      let concrete = draft.entities.filter { !$0.isAbstract && former.entity($0.id)?.isAbstract == false }
      guard !isTable, let entity = pick(concrete) else { return nil }
      draft.change(entity: entity.id) { $0.isAbstract = true }
      obstacle = "an entity becomes abstract"
    default:
      let dates = draft.entities.flatMap(\.properties).filter { property in
        guard draft.owner(of: property.id) == former.owner(of: property.id),
          case .attribute(let attribute) = property.kind, let other = former.property(property.id),
          case .attribute(let old) = other.kind
        else { return false }
        return !attribute.isTransient && !old.isTransient && !old.type.converts(to: .date)
      }
      guard let property = pick(dates) else { return nil }
      draft.changeAttribute(property.id) { ($0.type, $0.isOptional, $0.defaultValue) = (.date, true, .null) }
      obstacle = "\(property.name) becomes a date"
    }
    return obstacle
  }
}
