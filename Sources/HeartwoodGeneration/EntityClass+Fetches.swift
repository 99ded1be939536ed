import HeartwoodModel

extension EntityClass {
  /// What a template says of the model's fetch requests for the entity: those that give objects, or how many there are.
  func fetches(_ templates: [FetchRequestTemplate]) -> [[String: TemplateValue]] {
    functions(templates).filter { $0.template.entityName == entity.name }.map { fetch($0.template, named: $0.name) }
  }

  /// The requests that become functions of the class and of those that it inherits from, these first, with the names of the functions:
  /// such as would be the same, with the same labels, are told apart by underscores, for a class cannot replace a static function that it
  /// inherits.
  private func functions(_ templates: [FetchRequestTemplate]) -> [(template: FetchRequestTemplate, name: String)] {
    var taken: Set<String> = []
    let lineage = sequence(first: entity) { $0.superentity }.reversed()
    return lineage.flatMap { entity in
      templates.filter { $0.entityName == entity.name && [.objects, .count].contains($0.resultType) }
    }.map { template in
      var name = Self.functionName(of: template)
      let labels = namedVariables(Self.variables(of: template)).map(\.label)
      while !taken.insert(([name] + labels).joined(separator: ":")).inserted { name += "_" }
      return (template, name)
    }
  }

  /// The letters and digits of the request's name, behind what the function does.
  private static func functionName(of template: FetchRequestTemplate) -> String {
    let name = template.name.filter { $0.isLetter || $0.isNumber || $0 == "_" }
    return (template.resultType == .count ? "count" : "fetch") + SwiftText.capitalized(name)
  }

  private func fetch(_ template: FetchRequestTemplate, named name: String) -> [String: TemplateValue] {
    let variables = namedVariables(Self.variables(of: template))
    let parameters =
      variables.map { "\($0.label == $0.name ? "" : $0.label + " ")\($0.name): any FetchArgument" }
      + ["in context: ManagedObjectContext"]
    let arguments = variables.map { "\"\($0.variable)\": \($0.name)" }
    let isCount = template.resultType == .count
    return [
      "requestName": .text(SwiftText.comment(template.name)),
      "name": .text(name),
      "parameters": .list(
        parameters.enumerated().map { place, parameter in
          ["parameter": .text(parameter), "comma": .text(place == parameters.count - 1 ? "" : ",")]
        }
      ),
      "arguments": .text(arguments.isEmpty ? ":" : arguments.joined(separator: ", ")),
      "format": .text(SwiftText.literal(template.predicate?.description ?? "TRUEPREDICATE")),
      "limit": .text(template.fetchLimit > 0 ? ", limit: \(template.fetchLimit)" : ""),
      "flags": .list(Self.flags(of: template)),
      "result": .text(isCount ? "Int" : "[\(className)]"),
      "call": .text(isCount ? "context.count(for: request)" : "context.fetch(request)"),
    ]
  }

  private static func variables(of template: FetchRequestTemplate) -> [String] {
    (template.predicate?.variables ?? []).sorted()
  }

  /// What a request is told otherwise than it would be: the subentities always, for the request is a variable so.
  private static func flags(of template: FetchRequestTemplate) -> [[String: TemplateValue]] {
    var flags = [("includesSubentities", template.includesSubentities)]
    if !template.includesPendingChanges { flags.append(("includesPendingChanges", false)) }
    if template.returnsDistinctResults { flags.append(("returnsDistinctResults", true)) }
    return flags.map { ["flag": .text($0.0), "value": .text("\($0.1)")] }
  }

  /// Variables, what they are called where the method is called, and in it: another name where the method has one that is the same.
  private func namedVariables(_ variables: [String]) -> [(variable: String, label: String, name: String)] {
    var taken: Set<String> = [
      "context", "predicate", "request", "`self`", "`Self`", "FetchPredicate", "FetchRequest", className,
    ]
    return variables.map { variable in
      let label = SwiftText.parameter(variable)
      var name = label
      while !taken.insert(name).inserted { name = name.filter { $0 != "`" } + "Value" }
      return (variable, label, name)
    }
  }
}
