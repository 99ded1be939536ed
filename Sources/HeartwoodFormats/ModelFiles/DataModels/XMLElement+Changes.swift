import HeartwoodModel

extension XMLElement {
  /// The attributes that tell an element from others of its name.
  private static let identifyingAttributes = ["name", "key", "value", "property"]

  /// Elements whose order among each other means nothing.
  private static let unorderedElements: Set<String> = ["entry", "configuration", "composite"]

  private struct Identity: Hashable {
    let element: String
    let name: String?
    /// Which of several with the same name.
    let number: Int
  }

  /// The element with the changes that lead from one tree to another; what neither of them has stays.
  func applying(changesFrom old: XMLElement, to new: XMLElement) -> XMLElement {
    var (old, result) = (old, self)
    if old.attributes["attributeType"] != new.attributes["attributeType"] {
      // The file may have values that its type does not have, left over from another one: they would come to life with the new type.
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
      // What the file did not say of its own accord, and did not change, it need not say now.
      guard before[identity] != child else { continue }
      let place = result.lastIndex { $0.child.name == child.name }.map { $0 + 1 }
      result.insert((child, identity), at: place ?? result.count)
    }
    return Self.ordered(result, like: identities)
  }

  /// The children, those that are in `order` in this order among their kind; the others stay where they are.
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

  /// Attributes and relationships are in one order, that of the properties.
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
