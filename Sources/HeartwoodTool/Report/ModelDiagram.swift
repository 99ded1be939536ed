import Heartwood

/// A model as the text of a diagram.
struct ModelDiagram {
  private let model: ManagedObjectModel

  init(_ model: ManagedObjectModel) {
    self.model = model
  }

  /// Relationships, of which one of two that are each other's inverse.
  private var links:
    [(entity: EntityDescription, relationship: RelationshipDescription, inverse: RelationshipDescription?)]
  {
    model.entities.flatMap { entity in
      entity.definition.properties.compactMap(\.relationship).compactMap { relationship in
        let destination = model.entity(named: relationship.destinationEntityName)
        let inverse = relationship.inverseRelationshipName.flatMap { destination?.property(named: $0)?.relationship }
        guard let inverse, !relationship.hasOneSidedInverse else { return (entity, relationship, nil) }
        let (own, other) = ([entity.name, relationship.name], [relationship.destinationEntityName, inverse.name])
        return own.lexicographicallyPrecedes(other) || own == other ? (entity, relationship, inverse) : nil
      }
    }
  }

  // MARK: Mermaid

  /// An entity relationship diagram of Mermaid.
  var mermaid: String {
    var lines = ["erDiagram"]
    for entity in model.entities {
      let attributes = entity.definition.properties.compactMap(\.attribute)
      lines.append("  \(entity.name)" + (attributes.isEmpty ? "" : " {"))
      lines += attributes.map { "    \($0.type.rawValue) \($0.name)" + ($0.isOptional ? " \"optional\"" : "") }
      if !attributes.isEmpty { lines.append("  }") }
    }
    for entity in model.entities {
      if let parent = entity.superentity { lines.append("  \(parent.name) ||--|| \(entity.name) : \"is a\"") }
    }
    for (entity, relationship, inverse) in links {
      // The mark beside an entity says how many of its objects there are for one of the other.
      let left = inverse.map { mark($0, isLeft: true) } ?? "}o"
      let title = relationship.name + (inverse.map { " / \($0.name)" } ?? "")
      let right = mark(relationship, isLeft: false)
      lines.append("  \(entity.name) \(left)--\(right) \(relationship.destinationEntityName) : \"\(title)\"")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func mark(_ relationship: RelationshipDescription, isLeft: Bool) -> String {
    let least = relationship.isOptional || relationship.isToMany && relationship.minCount == 0 ? "o" : "|"
    if relationship.isToMany { return isLeft ? "}" + least : least + "{" }
    return isLeft ? "|" + least : least + "|"
  }

  // MARK: Dot

  /// A graph of Graphviz.
  var dot: String {
    var lines = ["digraph model {", "  node [shape=record];"]
    for entity in model.entities {
      let attributes = entity.definition.properties.compactMap(\.attribute)
      let rows = attributes.map { "\($0.name): \($0.type.rawValue)" + ($0.isOptional ? "?" : "") + "\\l" }.joined()
      let title = entity.isAbstract ? "«abstract»\\n\(entity.name)" : entity.name
      lines.append("  \"\(entity.name)\" [label=\"{\(title)|\(rows)}\"];")
    }
    for entity in model.entities {
      if let parent = entity.superentity {
        lines.append("  \"\(entity.name)\" -> \"\(parent.name)\" [arrowhead=empty];")
      }
    }
    for (entity, relationship, inverse) in links {
      let head = "headlabel=\"\(relationship.name)\", arrowhead=\(relationship.isToMany ? "crow" : "tee")"
      let tail = inverse.map { ", dir=both, taillabel=\"\($0.name)\", arrowtail=\($0.isToMany ? "crow" : "tee")" } ?? ""
      lines.append("  \"\(entity.name)\" -> \"\(relationship.destinationEntityName)\" [\(head)\(tail)];")
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }
}
