@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodModel

extension XMLElement {
  /// The attributes that distinguish an element from others of the same name.
  private static let identifyingAttributes = ["name", "key", "value", "property"]

  /// The elements whose order has no meaning.
  private static let unorderedElements: Set<String> = ["entry", "configuration", "composite"]

  private struct Identity: Hashable {
    let element: String
    let name: String?
    /// The number of the element among those with the same name.
    let number: Int
  }

  /// Returns the element with the changes between two trees. What is in neither of them is preserved.
  func applying(changesFrom old: XMLElement, to new: XMLElement) -> XMLElement {
    var (old, result) = (old, self)
    if old.attributes["attributeType"] != new.attributes["attributeType"] {
      // The file may contain values that are left over from another type. With the new type they would apply again.
      for name in AttributeType.dataModelValues {
        old.attributes[name] = nil
        if new.attributes[name] == nil { result.attributes[name] = nil }
      }
    }
    for name in old.attributes.names where new.attributes[name] == nil { result.attributes[name] = nil }
    for (name, value) in new.attributes.items where old.attributes[name] != value { result.attributes[name] = value }
    result.children = children(applyingChangesFrom: old, to: new)
    return result
  }

  private func children(applyingChangesFrom old: XMLElement, to new: XMLElement) -> [XMLElement] {
    let (before, after) = (old.childrenByIdentity, new.childrenByIdentity)
    let own = zip(children, Self.identities(children))
    var result: [(child: XMLElement, identity: Identity)] = []
    for (child, identity) in own {
      if let next = after[identity] {
        let changed = child.applying(changesFrom: before[identity] ?? XMLElement(child.name), to: next)
        result.append((changed, identity))
      } else if before[identity] == nil {
        result.append((child, identity))
      }
    }
    let known = Set(own.map(\.1))
    let identities = Self.identities(new.children)
    for (child, identity) in zip(new.children, identities) where !known.contains(identity) {
      // The element was not in the file, and has not changed.
      guard before[identity] != child else { continue }
      let place = result.lastIndex { $0.child.name == child.name }.map { $0 + 1 }
      result.insert((child, identity), at: place ?? result.count)
    }
    return Self.ordered(result, like: identities)
  }

  /// Returns the children, with those in `order` sorted within their kind. Others keep their positions.
  private static func ordered(
    _ pairs: [(child: XMLElement, identity: Identity)],
    like order: [Identity]
  ) -> [XMLElement] {
    let ranks = Dictionary(zip(order, order.indices), uniquingKeysWith: { first, _ in first })
    var children = pairs.map(\.child)
    let places = pairs.indices.filter {
      ranks[pairs[$0].identity] != nil && !unorderedElements.contains(children[$0].name)
    }
    for group in Dictionary(grouping: places, by: { kind(of: pairs[$0].child) }).values {
      let sorted = group.sorted { (ranks[pairs[$0].identity] ?? 0) < (ranks[pairs[$1].identity] ?? 0) }
      for (place, source) in zip(group, sorted) { children[place] = pairs[source].child }
    }
    return children
  }

  /// Returns the kind of an element. Attributes and relationships are one kind, since properties have a common order.
  private static func kind(of element: XMLElement) -> String {
    element.name == "relationship" ? "attribute" : element.name
  }

  private var childrenByIdentity: [Identity: XMLElement] {
    Dictionary(zip(Self.identities(children), children), uniquingKeysWith: { first, _ in first })
  }

  private static func identities(_ elements: [XMLElement]) -> [Identity] {
    var counts: [Identity: Int] = [:]
    return elements.map { element in
      let name = identifyingAttributes.lazy.compactMap { element.attributes[$0] }.first
      let key = Identity(element: element.name, name: name, number: 0)
      let number = counts[key, default: 0]
      counts[key] = number + 1
      return Identity(element: element.name, name: name, number: number)
    }
  }
}

// MARK: Restating

extension XMLElement {
  /// The attributes that distinguish a composite attribute from others of the same composite type.
  private static let compositeSettings = ["optional", "transient", "composite", "elementID", "versionHashModifier"]

  /// Returns the tree with alternative forms replaced by those in `old`, a tree of the same model, where `new` differs.
  /// Otherwise, the changes from `old` to `new` would not apply to the alternative forms.
  func restated(like old: XMLElement, before new: XMLElement) -> XMLElement {
    var result = self
    let hasOtherComposites = old.compositeElements != new.compositeElements
    result.children = children.map { child in
      guard child.name == "entity", let oldEntity = old.child(like: child) else { return child }
      var entity = child
      if let newEntity = new.child(like: child), oldEntity.fetchIndexes != newEntity.fetchIndexes {
        entity.restateIndexes(like: oldEntity)
      }
      if hasOtherComposites { entity.restateComposites(like: oldEntity) }
      return entity
    }
    guard hasOtherComposites else { return result }
    result.children = result.children.map { $0.name == "composite" ? old.child(like: $0) ?? $0 : $0 }
    result.children += old.children.filter { $0.name == "composite" && child(like: $0) == nil }
    return result
  }

  /// Replaces marks of attributes and `compoundIndexes`, which older versions of Xcode wrote, by `fetchIndex` elements.
  private mutating func restateIndexes(like old: XMLElement) {
    children.removeAll { $0.name == "compoundIndexes" }
    for place in children.indices where children[place].name == "attribute" {
      children[place].attributes["indexed"] = nil
    }
    let missing = old.fetchIndexes.filter { child(like: $0) == nil }
    children += missing
  }

  private mutating func restateComposites(like old: XMLElement) {
    for place in children.indices where children[place].isCompositeAttribute {
      guard let attribute = old.child(like: children[place]) else { continue }
      for name in Self.compositeSettings { children[place].attributes[name] = attribute.attributes[name] }
    }
  }

  private func child(like other: XMLElement) -> XMLElement? {
    children.first { $0.name == other.name && $0.attributes["name"] == other.attributes["name"] }
  }

  private var fetchIndexes: [XMLElement] { children.filter { $0.name == "fetchIndex" } }

  private var isCompositeAttribute: Bool { name == "attribute" && attributes["attributeType"] == "Composite" }

  /// The composite types of a model, and the composite attributes.
  private var compositeElements: [XMLElement] {
    children.filter { $0.name == "composite" }
      + children.filter { $0.name == "entity" }.flatMap { $0.children.filter(\.isCompositeAttribute) }
  }
}
