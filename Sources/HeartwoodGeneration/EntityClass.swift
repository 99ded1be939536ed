import HeartwoodModel

/// The values of an entity for a template.
struct EntityClass {
  /// The keys of the user info for the Swift type of an attribute that the application declares: an enumeration or a
  /// Codable type.
  static let typeKeys = ["swiftType", "attributeValueScalarType"]

  /// The key of the user info for the type to which an attribute's transformer converts bytes.
  static let transformedTypeKey = "transformedType"

  let entity: EntityDescription
  let className: String
  let options: GenerationOptions
  private let model: ManagedObjectModel

  init(
    _ entity: EntityDescription,
    of model: ManagedObjectModel,
    options: GenerationOptions
  ) throws(GenerationError) {
    self.entity = entity
    self.model = model
    self.options = options
    className = Self.className(of: entity)
    guard className.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
      throw GenerationError(
        description:
          "The entity \(entity.name) has the class “\(className)”, which is not a class name. Give it another."
      )
    }
  }

  /// Returns the class name of an entity, without a module: the name in the model, or the name of the entity. A
  /// keyword, such as `Type`, gets an underscore.
  static func className(of entity: EntityDescription) -> String {
    let name = modelClassName(of: entity)
    return SwiftText.isReserved(name) ? name + "_" : name
  }

  private static func modelClassName(of entity: EntityDescription) -> String {
    guard let name = entity.managedObjectClassName?.split(separator: ".").last.map(String.init),
      !["NSManagedObject", "ManagedObject"].contains(name)
    else { return entity.name }
    return name
  }

  /// Returns the class name of another entity.
  func className(ofEntity name: String) -> String {
    model.entity(named: name).map(Self.className) ?? name
  }

  var machineClassName: String { options.hasHumanFiles ? "_" + className : className }

  /// The names of the types that are generated for the entity.
  var typeNames: [String] { options.hasHumanFiles ? [className, machineClassName] : [className] }

  private var isFinal: Bool { entity.subentityOrdinals.isEmpty }

  private var access: String { options.accessLevel.modifier }

  /// - Parameter fileModules: the modules whose types are used in the declarations of other classes in the same file.
  func values(besides fileModules: Set<String> = []) -> [String: TemplateValue] {
    let own = entity.definition.properties
    let attributes = own.compactMap(\.attribute).filter { $0.type != .undefined }.map(attribute)
    let untyped = own.compactMap(\.attribute).filter { $0.type == .undefined }.map(untypedAttribute)
    let relationships = own.compactMap(\.relationship)
    let toOnes = relationships.filter { !$0.isToMany }.map(relationship)
    let toManys = relationships.filter(\.isToMany).map(toMany)
    let userInfo = entity.userInfo.sorted { $0.key < $1.key }
    return [
      "header": .text(GeneratedFile.header),
      "imports": .list(Self.imports(modules, declared: declaredModules.union(fileModules), options)),
      "access": .text(access),
      "importAccess": .text(options.accessLevel.plainImportModifier),
      "entityName": .text(entity.name),
      "className": .text(className),
      "machineClassName": .text(machineClassName),
      "superclassName": .text(entity.superentity.map(Self.className) ?? options.baseClass),
      "isAbstract": .flag(entity.isAbstract),
      "isFinal": .flag(isFinal),
      "isMachineFinal": .flag(isFinal && !options.hasHumanFiles),
      "hasHumanFile": .flag(options.hasHumanFiles),
      "attributes": .list(attributes),
      "untypedAttributes": .list(untyped),
      "toOnes": .list(toOnes),
      "toManys": .list(toManys),
      "relationships": .list(toOnes + toManys),
      "properties": .list(attributes + untyped + toOnes + toManys),
      "hasProperties": .flag(!entity.properties.isEmpty),
      "namedProperties": .list(entity.properties.map { propertyNames($0.name) }),
      "fetches": .list(fetches(model.fetchRequestTemplates)),
      "hasUserInfo": .flag(!userInfo.isEmpty),
      "userInfo": .list(userInfoEntries(userInfo)),
    ]
  }

  /// The modules whose types are used in the declarations.
  ///
  /// Only the classes of entities without a parent name the base class, and only attributes name types of the
  /// application. An import that is not needed would be a warning.
  var declaredModules: Set<String> {
    let others = entity.superentity == nil || usesOwnTypes ? options.imports : []
    return Set(others + (declaresHeartwood ? ["Heartwood"] : []) + (usesFoundation ? ["Foundation"] : []))
  }

  private var modules: Set<String> { declaredModules.union(["Heartwood"]) }

  /// Whether the declarations use a type of Heartwood.
  private var declaresHeartwood: Bool {
    let isRoot = entity.superentity == nil && options.baseClass == "ManagedObject"
    let hasKeys = entity.definition.properties.contains { $0.attribute?.type != .undefined }
    return isRoot || hasKeys || !fetches(model.fetchRequestTemplates).isEmpty
  }

  /// Returns import lines for `modules`, in the order of swift-format. Modules in `declared` are imported at the access
  /// level of the declarations.
  static func imports(
    _ modules: Set<String>,
    declared: Set<String>,
    _ options: GenerationOptions
  ) -> [[String: TemplateValue]] {
    let level = options.accessLevel
    return modules.sorted().map { module in
      let modifier = declared.contains(module) ? level.modifier : level.plainImportModifier
      return ["line": .text("\(modifier)import \(module)")]
    }
  }

  /// Returns the entries with Swift names. If keys differ only in characters that a name cannot contain, underscores
  /// are appended.
  private func userInfoEntries(_ entries: [(key: String, value: String)]) -> [[String: TemplateValue]] {
    var taken: Set<String> = ["_"]
    return entries.map { key, value in
      var name = SwiftText.name(of: key)
      while !taken.insert(name).inserted { name += "_" }
      return ["name": .text(SwiftText.identifier(name)), "value": .text(SwiftText.literal(value))]
    }
  }
}

// MARK: Fetches

extension EntityClass {
  /// Returns the values for the model's fetch requests for the entity that fetch objects or a count.
  func fetches(_ templates: [FetchRequestTemplate]) -> [[String: TemplateValue]] {
    functions(templates).filter { $0.template.entityName == entity.name }.map { fetch($0.template, named: $0.name) }
  }

  /// Returns the requests that become functions of the class and its superclasses, beginning with the superclasses,
  /// with the names of the functions. If functions would have the same name and labels, underscores are appended,
  /// because a class cannot override a static function of its superclass.
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

  /// Returns `fetch` or `count`, followed by the letters and digits of the request's name.
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

  /// Returns the settings of the request that differ from the defaults. Subentities are always included in the list, so
  /// that the request has to be a variable.
  private static func flags(of template: FetchRequestTemplate) -> [[String: TemplateValue]] {
    var flags = [("includesSubentities", template.includesSubentities)]
    if !template.includesPendingChanges { flags.append(("includesPendingChanges", false)) }
    if template.returnsDistinctResults { flags.append(("returnsDistinctResults", true)) }
    return flags.map { ["flag": .text($0.0), "value": .text("\($0.1)")] }
  }

  /// Returns the variables with the argument labels and names of the parameters. The name differs from the label if the
  /// function uses it itself.
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
