extension PredicateCompiler {
  /// The attribute that is the part of a composite attribute which `keys` begin with, such as `home.city`, and how many keys that takes; nil
  /// where the first is not the name of a composite attribute.
  func part(_ keys: ArraySlice<FetchKey>, of base: Compiled) throws(Fault) -> (attributeName: String, count: Int)? {
    guard case .object(let ordinal) = base.kind.element ?? base.kind, case .property(let name)? = keys.first,
      let composite = model.entities[ordinal].compositeAttributes.first(where: { $0.name == name })
    else { return nil }
    var path: [String] = []
    for key in keys.dropFirst() {
      guard case .property(let name) = key else { break }
      path.append(name)
      if let element = composite.elements.first(where: { $0.name == path.joined(separator: ".") }) {
        return (element.attributeName, path.count + 1)
      }
    }
    throw fault(.unknownKey, Self.advice(on: composite), at: 1 + keys.startIndex)
  }

  private static func advice(on composite: CompositeAttributeDescription) -> String {
    let shown = 20
    let names = composite.elements.prefix(shown).map { "\(composite.name).\($0.name)" }.joined(separator: ", ")
    let others = composite.elements.count > shown ? " and others" : ""
    return "\(composite.name) is a composite attribute, whose parts have values: \(names)\(others)."
  }
}
