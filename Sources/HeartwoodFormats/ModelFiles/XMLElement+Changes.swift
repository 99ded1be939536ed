extension XMLElement {
  /// The attributes that tell an element from others of its name.
  private static let identifyingAttributes = ["name", "key", "value", "property"]

  private struct Identity: Hashable {
    let element: String
    let name: String?
    /// Which of several with the same name.
    let number: Int
  }

  /// The element with the changes that lead from one tree to another; what neither of them has stays.
  func applying(changesFrom old: XMLElement, to new: XMLElement) -> XMLElement {
    var result = self
    for name in old.attributes.names where new.attributes[name] == nil { result.attributes[name] = nil }
    for (name, value) in new.attributes.items where old.attributes[name] != value { result.attributes[name] = value }
    result.children = children(applyingChangesFrom: old, to: new)
    return result
  }

  private func children(applyingChangesFrom old: XMLElement, to new: XMLElement) -> [XMLElement] {
    let (before, after) = (old.childrenByIdentity, new.childrenByIdentity)
    let own = zip(children, Self.identities(children))
    var result: [XMLElement] = []
    for (child, identity) in own {
      if let next = after[identity] {
        result.append(child.applying(changesFrom: before[identity] ?? XMLElement(child.name), to: next))
      } else if before[identity] == nil {
        result.append(child)
      }
    }
    let known = Set(own.map(\.1))
    for (child, identity) in zip(new.children, Self.identities(new.children)) where !known.contains(identity) {
      // What the file did not say of its own accord, and did not change, it need not say now.
      guard before[identity] != child else { continue }
      let place = result.lastIndex { $0.name == child.name }.map { $0 + 1 }
      result.insert(child, at: place ?? result.count)
    }
    return result
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
