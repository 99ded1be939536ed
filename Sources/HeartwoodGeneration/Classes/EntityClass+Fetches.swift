import HeartwoodModel

extension EntityClass {
  /// What a template says of the model's fetch requests for the entity: those that give objects, or how many there are.
  func fetches(_ templates: [FetchRequestTemplate]) -> [[String: TemplateValue]] {
    templates.filter { $0.entityName == entity.name && [.objects, .count].contains($0.resultType) }.map(fetch)
  }

  private func fetch(_ template: FetchRequestTemplate) -> [String: TemplateValue] {
    let variables = (template.predicate?.variables ?? []).sorted()
    let parameters =
      variables.map { "\(SwiftText.parameter($0)): any FetchArgument" } + ["in context: ManagedObjectContext"]
    let arguments = variables.map { "\"\($0)\": \(SwiftText.parameter($0))" }
    let isCount = template.resultType == .count
    let name =
      (isCount ? "count" : "fetch")
      + SwiftText.capitalized(template.name.filter { $0.isLetter || $0.isNumber || $0 == "_" })
    return [
      "requestName": .text(template.name),
      "name": .text(name),
      "parameters": .list(
        parameters.enumerated().map { place, parameter in
          ["parameter": .text(parameter), "comma": .text(place == parameters.count - 1 ? "" : ",")]
        }
      ),
      "arguments": .text(arguments.isEmpty ? ":" : arguments.joined(separator: ", ")),
      "format": .text(SwiftText.literal(template.predicate?.description ?? "TRUEPREDICATE")),
      "limit": .text(template.fetchLimit > 0 ? ", limit: \(template.fetchLimit)" : ""),
      "includesSubentities": .text("\(template.includesSubentities)"),
      "result": .text(isCount ? "Int" : "[\(className)]"),
      "call": .text(isCount ? "context.count(for: request)" : "context.fetch(request)"),
    ]
  }
}
