import HeartwoodModel

extension DataModelReader {
  private static let compositeAttributes: Set<String> = [
    "name", "attributeType", "composite", "optional", "transient", "syncable", "elementID", "versionHashModifier",
    "usesScalarValueType",
  ]
  /// How many parts an attribute may have, those of its parts included, and how deep they may be in each other.
  private static let mostParts = 1_000
  private static let deepestNesting = 8

  /// A composite attribute, and how far its reading has come.
  private struct Composite {
    let attribute: DataModelElement
    let name: String
    /// How many parts have been seen, those that have parts themselves included.
    var partCount = 0
    var elements: [CompositeAttributeDescription.Element] = []
    var attributes: [AttributeDescription] = []
  }

  /// Reads an attribute that is made of others: they become attributes of the entity.
  mutating func readComposite(
    _ element: DataModelElement
  ) throws(ModelFileError) -> (composite: CompositeAttributeDescription, attributes: [AttributeDescription]) {
    noteUnknownAttributes(of: element, Self.compositeAttributes)
    var composite = Composite(attribute: element, name: try element.requiredText("name"))
    let typeName = try element.requiredText("composite")
    try readParts(of: typeName, path: [], into: &composite)
    var userInfo: [String: String] = [:]
    for info in element.children("userInfo") { readUserInfo(info, into: &userInfo) }
    let description = CompositeAttributeDescription(
      name: composite.name,
      compositeName: typeName,
      elements: composite.elements,
      userInfo: userInfo
    )
    return (description, composite.attributes)
  }

  private mutating func readParts(
    of typeName: String,
    path: [String],
    into composite: inout Composite
  ) throws(ModelFileError) {
    guard let type = composites[typeName] else {
      throw composite.attribute.error("The composite “\(typeName)” does not exist. Add it, or correct the name.")
    }
    guard path.count < Self.deepestNesting else {
      throw type.error("The composite “\(typeName)” has too many parts, or is a part of itself. Take some away.")
    }
    for part in type.children("attribute") {
      composite.partCount += 1
      guard composite.partCount <= Self.mostParts else {
        throw composite.attribute.error("The attribute has more than \(Self.mostParts) parts. Take some away.")
      }
      let partPath = path + [try part.requiredText("name")]
      if part.text("attributeType") == "Composite" {
        try readParts(of: try part.requiredText("composite"), path: partPath, into: &composite)
      } else {
        try readPart(part, path: partPath, into: &composite)
      }
    }
  }

  private mutating func readPart(
    _ part: DataModelElement,
    path: [String],
    into composite: inout Composite
  ) throws(ModelFileError) {
    var attribute = try readAttribute(part)
    attribute.name = ([composite.name] + path).joined(separator: "_")
    if try composite.attribute.flag("optional") { attribute.isOptional = true }
    if try composite.attribute.flag("transient") { attribute.isTransient = true }
    if let oldName = composite.attribute.filledText("elementID") {
      attribute.renamingIdentifier =
        ([oldName] + path.dropLast()).joined(separator: "_")
        + "_" + (attribute.renamingIdentifier ?? path.last ?? "")
    } else if let oldName = attribute.renamingIdentifier {
      attribute.renamingIdentifier = ([composite.name] + path.dropLast() + [oldName]).joined(separator: "_")
    }
    attribute.versionHashModifier =
      attribute.versionHashModifier ?? composite.attribute.filledText("versionHashModifier")
    composite.elements.append(.init(name: path.joined(separator: "."), attributeName: attribute.name))
    composite.attributes.append(attribute)
  }
}
