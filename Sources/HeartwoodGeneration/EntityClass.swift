import HeartwoodModel

/// What a template says of one entity.
struct EntityClass {
  /// The key of the user info by which an attribute gets a Swift type of the application's: an enumeration or a Codable type.
  static let typeKeys = ["swiftType", "attributeValueScalarType"]

  /// The key of the user info by which an attribute says what its registered transformer makes of bytes.
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
          "The entity \(entity.name) has the class “\(className)”, which is no name of a class. Give it another."
      )
    }
  }

  /// The name of the class of an entity, without its module: the entity's own where the model says none. A word of the language, such as
  /// `Type`, gets an underscore behind it.
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

  /// The name of the class of another entity.
  func className(ofEntity name: String) -> String {
    model.entity(named: name).map(Self.className) ?? name
  }

  var machineClassName: String { options.hasHumanFiles ? "_" + className : className }

  /// The names of the types that are made of the entity, each once.
  var typeNames: [String] { options.hasHumanFiles ? [className, machineClassName] : [className] }

  private var isFinal: Bool { entity.subentityOrdinals.isEmpty }

  private var access: String { options.accessLevel.modifier }

  /// - Parameter fileModules: those whose types are in the declarations of the other classes in the same file.
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

  /// The modules whose types are in the declarations.
  ///
  /// The base class is named by the classes of entities without a parent alone, and the application's types where attributes are of one;
  /// an import that nothing needs is a warning.
  var declaredModules: Set<String> {
    let others = entity.superentity == nil || usesOwnTypes ? options.imports : []
    return Set(others + (declaresHeartwood ? ["Heartwood"] : []) + (usesFoundation ? ["Foundation"] : []))
  }

  private var modules: Set<String> { declaredModules.union(["Heartwood"]) }

  /// Whether a type of Heartwood's is in the declarations.
  private var declaresHeartwood: Bool {
    let isRoot = entity.superentity == nil && options.baseClass == "ManagedObject"
    let hasKeys = entity.definition.properties.contains { $0.attribute?.type != .undefined }
    return isRoot || hasKeys || !fetches(model.fetchRequestTemplates).isEmpty
  }

  /// The lines that import `modules`, sorted as the formatter sorts them; those in `declared` at the declarations' level of access.
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

  /// The entries under names of Swift: keys that differ in other signs alone are told apart by underscores.
  private func userInfoEntries(_ entries: [(key: String, value: String)]) -> [[String: TemplateValue]] {
    var taken: Set<String> = ["_"]
    return entries.map { key, value in
      var name = SwiftText.name(of: key)
      while !taken.insert(name).inserted { name += "_" }
      return ["name": .text(SwiftText.identifier(name)), "value": .text(SwiftText.literal(value))]
    }
  }
}
