import Heartwood
import HeartwoodFormats
import HeartwoodStore

/// A model as a table: a line for each property, under a line for its entity.
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

  /// What is beside the entities. What the model says commands no terminal.
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
