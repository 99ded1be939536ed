extension XMLElement {
  /// What tells an attribute that is made of others from another of the same composite.
  private static let compositeSettings = ["optional", "transient", "composite", "elementID", "versionHashModifier"]

  /// The tree, in which what can be said in several ways is said as in `old`, a tree of the same model, where `new` says something
  /// else there: the changes from `old` to `new` would miss what is said in another way.
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

  /// Says by `fetchIndex` what older versions of Xcode said by marks at attributes and by `compoundIndexes`.
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

  /// The composites of a model, and the attributes that are of one.
  private var compositeElements: [XMLElement] {
    children.filter { $0.name == "composite" }
      + children.filter { $0.name == "entity" }.flatMap { $0.children.filter(\.isCompositeAttribute) }
  }
}
