extension DataModelFile {
  /// The attributes, as `Entity.attribute`, for which the file asks for a scalar in generated code: they are never nil there.
  public var scalarAttributes: Set<String> {
    var names: Set<String> = []
    for entity in root.children where entity.name == "entity" {
      for attribute in entity.children where attribute.attributes["usesScalarValueType"] == "YES" {
        guard let owner = entity.attributes["name"], let name = attribute.attributes["name"] else { continue }
        names.insert("\(owner).\(name)")
      }
    }
    return names
  }
}
