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

  /// The attribute of the entity.
  var attribute: XMLElement {
    XMLElement(
      "attribute",
      [
        "name": description.name,
        "optional": !parts.isEmpty && parts.allSatisfy(\.attribute.isOptional) ? "YES" : nil,
        "transient": !parts.isEmpty && parts.allSatisfy(\.attribute.isTransient) ? "YES" : nil,
        "attributeType": "Composite",
        "composite": description.compositeName,
        "elementID": oldName,
      ],
      children: DataModelWriter.userInfo(description.userInfo)
    )
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

  /// The composite, and those of its parts that are made of others, by name.
  var composites: [String: XMLElement] {
    var composites: [String: XMLElement] = [:]
    add(description.compositeName, parts, depth: 0, to: &composites)
    return composites
  }

  private func add(_ name: String, _ parts: [Part], depth: Int, to composites: inout [String: XMLElement]) {
    var children: [XMLElement] = []
    var seen: Set<String> = []
    for part in parts where depth < part.path.count && seen.insert(part.path[depth]).inserted {
      if part.path.count == depth + 1 {
        children.append(element(of: part))
      } else {
        // The name of a composite in a composite is not kept.
        let nested = name + "_" + part.path[depth]
        let inner = parts.filter { $0.path.count > depth + 1 && $0.path[depth] == part.path[depth] }
        add(nested, inner, depth: depth + 1, to: &composites)
        children.append(
          XMLElement(
            "attribute",
            ["name": part.path[depth], "attributeType": "Composite", "composite": nested]
          )
        )
      }
    }
    composites[name] = XMLElement("composite", ["name": name], children: children)
  }

  private func element(of part: Part) -> XMLElement {
    var attribute = part.attribute
    attribute.name = part.path.last ?? ""
    let prefix = ([description.name] + part.path.dropLast()).joined(separator: "_") + "_"
    attribute.renamingIdentifier = attribute.renamingIdentifier.flatMap {
      oldName == nil && $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil
    }
    return DataModelWriter.attribute(attribute)
  }
}
