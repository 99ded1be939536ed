extension DataModelFile {
  /// The attributes, as `Entity.attribute`, for which the file asks for a scalar in generated code: they are never nil there. Those that a
  /// composite attribute is made of are called as in the entity, `home_zip`.
  public var scalarAttributes: Set<String> {
    let composites = Dictionary(
      root.children.filter { $0.name == "composite" }.map { ($0.attributes["name"] ?? "", $0.children) },
      uniquingKeysWith: { first, _ in first }
    )
    var names: Set<String> = []
    for entity in root.children where entity.name == "entity" {
      guard let owner = entity.attributes["name"] else { continue }
      for attribute in entity.children {
        names.formUnion(Self.scalars(attribute, behind: owner + ".", composites))
      }
    }
    return names
  }

  /// The names of an element's scalars: its own, or those of its parts. That parts do not go in a circle was found when the file was read.
  private static func scalars(
    _ attribute: XMLElement,
    behind prefix: String,
    _ composites: [String: [XMLElement]]
  ) -> [String] {
    guard let name = attribute.attributes["name"] else { return [] }
    if attribute.attributes["attributeType"] == "Composite", let type = attribute.attributes["composite"] {
      return (composites[type] ?? []).flatMap { scalars($0, behind: prefix + name + "_", composites) }
    }
    return attribute.attributes["usesScalarValueType"] == "YES" ? [prefix + name] : []
  }
}
