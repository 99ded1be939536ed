import Heartwood
import HeartwoodRecordText
import HeartwoodStore

/// Formats a model as a table, with one line for each entity and, below it, one line for each property.
struct ModelTable {
  private let model: ManagedObjectModel

  init(_ model: ManagedObjectModel) {
    self.model = model
  }

  var text: String {
    let output = GrowableBytes()
    var columns = TextColumns(["ENTITY", "PROPERTY", "TYPE", "NOTES"].map { TextColumns.Column(title: $0) })
    let lines = model.entities.flatMap { entityLines($0) }
    columns.widen(to: lines)
    columns.appendHeader(to: output)
    for line in lines { columns.append(line, to: output) }
    for line in rest { output.append(text: line + "\n") }
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  private func entityLines(_ entity: EntityDescription) -> [[String]] {
    let definition = entity.definition
    let notes = [
      entity.isAbstract ? "abstract" : nil, definition.superentityName.map { "is a \($0)" },
      entity.managedObjectClassName.map { "class \($0)" }, renamingText(entity.renamingIdentifier),
      definition.uniquenessConstraints.isEmpty
        ? nil : "unique " + definition.uniquenessConstraints.map { $0.joined(separator: "+") }.joined(separator: ", "),
      definition.fetchIndexes.isEmpty ? nil : "indexes " + definition.fetchIndexes.map(\.name).joined(separator: ", "),
    ]
    let own = definition.properties.map { ["", $0.name, typeText($0), noteText($0)] }
    let fetched = definition.fetchedProperties.map { property in
      [
        "", property.name, "fetched \(property.fetchRequest.entityName)",
        property.fetchRequest.predicate?.description ?? "",
      ]
    }
    return [[entity.name, "", "", notes.compactMap(\.self).joined(separator: ", ")]] + own + fetched
  }

  private func typeText(_ property: PropertyDescription) -> String {
    switch property {
    case .attribute(let attribute): attribute.type.rawValue
    case .relationship(let relationship):
      relationship.destinationEntityName + (relationship.isToMany ? relationship.isOrdered ? " [ordered]" : " []" : "")
    }
  }

  private func noteText(_ property: PropertyDescription) -> String {
    var notes = [property.isOptional ? "optional" : nil, property.isTransient ? "transient" : nil]
    switch property {
    case .attribute(let attribute):
      notes += [
        attribute.defaultValue.text(of: attribute.type).map { "default \($0)" },
        attribute.derivationExpression.map { "derived \($0)" },
      ]
      notes += ruleTexts(attribute)
      notes += [
        attribute.allowsExternalBinaryDataStorage ? "external" : nil,
        attribute.preservesValueInHistoryOnDeletion ? "preserved" : nil,
        attribute.valueTransformerName.map { "transformer \($0)" },
      ]
    case .relationship(let relationship):
      notes += [
        relationship.inverseRelationshipName.map { "inverse \($0)" },
        relationship.deleteRule == .nullify ? nil : relationship.deleteRule.rawValue,
        relationship.isToMany && relationship.maxCount > 0 && relationship.maxCount < .max
          ? "at most \(relationship.maxCount)" : nil,
        relationship.minCount > 0 ? "at least \(relationship.minCount)" : nil,
      ]
    }
    return (notes + [renamingText(property.renamingIdentifier)]).compactMap(\.self).joined(separator: ", ")
  }

  private func ruleTexts(_ attribute: AttributeDescription) -> [String?] {
    let rules = attribute.rules
    return [
      rules.minValue.text(of: attribute.type).map { "from \($0)" },
      rules.maxValue.text(of: attribute.type).map { "to \($0)" },
      rules.minLength.map { "at least \($0) long" }, rules.maxLength.map { "at most \($0) long" },
      rules.pattern.map { "as \($0)" },
    ] + rules.predicates.map { "\($0.predicate)" }
  }

  private func renamingText(_ identifier: String?) -> String? { identifier.map { "was \($0)" } }

  /// The lines for everything but the entities. Control characters in names are escaped.
  private var rest: [String] {
    let configurations = model.configurations.sorted { $0.key < $1.key }.map { name, members in
      "configuration \(name): \(members.joined(separator: ", "))"
    }
    let requests = model.fetchRequestTemplates.map { request in
      "fetch request \(request.name): \(request.entityName)" + (request.predicate.map { " where \($0)" } ?? "")
    }
    let versions = model.versionIdentifiers.map { "version \($0)" }
    let lines = versions + configurations + requests
    return lines.isEmpty ? [] : [""] + lines.map { DisplayText.safe($0) }
  }
}

// MARK: ModelDiagram

/// Formats a model as a diagram.
struct ModelDiagram {
  private let model: ManagedObjectModel

  init(_ model: ManagedObjectModel) {
    self.model = model
  }

  /// The relationships. Only one of two inverse relationships is included.
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

  /// An entity relationship diagram for Mermaid.
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
      // The mark beside an entity is the number of its objects for each object of the other entity.
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

  /// A graph for Graphviz.
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
