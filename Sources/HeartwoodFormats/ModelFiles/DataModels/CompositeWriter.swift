import HeartwoodModel

/// Makes the elements of an attribute that is made of others, and of the composite that it is.
struct CompositeWriter {
  private struct Part {
    /// The name, each level by itself.
    let path: [String]
    let attribute: AttributeDescription
  }

  private let description: CompositeAttributeDescription
  private let parts: [Part]

  init(_ description: CompositeAttributeDescription, of entity: EntityDefinition) {
    self.description = description
    parts = description.elements.compactMap { element in
      entity.properties.lazy.compactMap(\.attribute).first { $0.name == element.attributeName }.map {
        Part(path: element.name.split(separator: ".").map(String.init), attribute: $0)
      }
    }
  }

  /// The attribute of the entity, which is of the composite called `compositeName`. What holds for all its parts is said of it, and not
  /// of the parts: they are those of all attributes of the composite.
  func attribute(compositeName: String) -> XMLElement {
    XMLElement(
      "attribute",
      [
        "name": description.name,
        "optional": isOptional ? "YES" : nil,
        "transient": isTransient ? "YES" : nil,
        "attributeType": "Composite",
        "composite": compositeName,
        "elementID": oldName,
        "versionHashModifier": versionHashModifier,
      ],
      children: DataModelWriter.userInfo(description.userInfo)
    )
  }

  private var isOptional: Bool { !parts.isEmpty && parts.allSatisfy(\.attribute.isOptional) }

  private var isTransient: Bool { !parts.isEmpty && parts.allSatisfy(\.attribute.isTransient) }

  /// The modifier that all parts have.
  private var versionHashModifier: String? {
    guard let modifier = parts.first?.attribute.versionHashModifier else { return nil }
    return parts.allSatisfy { $0.attribute.versionHashModifier == modifier } ? modifier : nil
  }

  /// The name that the whole had before, where all parts tell the same.
  private var oldName: String? {
    guard let first = parts.first, let identifier = first.attribute.renamingIdentifier else { return nil }
    let suffix = "_" + first.path.joined(separator: "_")
    guard identifier.hasSuffix(suffix) else { return nil }
    let name = String(identifier.dropLast(suffix.count))
    let isShared = parts.allSatisfy { part in
      part.attribute.renamingIdentifier == name + "_" + part.path.joined(separator: "_")
    }
    return isShared && name != description.name ? name : nil
  }

  /// Adds the composite, and those of its parts that are made of others, to `composites`, by name.
  ///
  /// - Returns: The name of the composite: another than the description's where that one has other parts.
  func add(to composites: inout [String: XMLElement]) -> String {
    add(description.compositeName, parts, depth: 0, to: &composites)
  }

  private func add(_ name: String, _ parts: [Part], depth: Int, to composites: inout [String: XMLElement]) -> String {
    var children: [XMLElement] = []
    var seen: Set<String> = []
    for part in parts where depth < part.path.count && seen.insert(part.path[depth]).inserted {
      if part.path.count == depth + 1 {
        children.append(element(of: part))
      } else {
        // The name of a composite in a composite is not kept.
        let inner = parts.filter { $0.path.count > depth + 1 && $0.path[depth] == part.path[depth] }
        let nested = add(name + "_" + part.path[depth], inner, depth: depth + 1, to: &composites)
        children.append(
          XMLElement(
            "attribute",
            ["name": part.path[depth], "attributeType": "Composite", "composite": nested]
          )
        )
      }
    }
    return Self.add(name, children, to: &composites)
  }

  /// Adds a composite under a name that none with other parts has.
  private static func add(
    _ name: String,
    _ children: [XMLElement],
    to composites: inout [String: XMLElement]
  ) -> String {
    var (ownName, number) = (name, 1)
    while let other = composites[ownName], other.children != children {
      number += 1
      ownName = "\(name)_\(number)"
    }
    composites[ownName] = XMLElement("composite", ["name": ownName], children: children)
    return ownName
  }

  private func element(of part: Part) -> XMLElement {
    var attribute = part.attribute
    attribute.name = part.path.last ?? ""
    let prefix = ([description.name] + part.path.dropLast()).joined(separator: "_") + "_"
    attribute.renamingIdentifier = attribute.renamingIdentifier.flatMap {
      oldName == nil && $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil
    }
    if isOptional { attribute.isOptional = false }
    if isTransient { attribute.isTransient = false }
    if versionHashModifier != nil { attribute.versionHashModifier = nil }
    return DataModelWriter.attribute(attribute)
  }
}
