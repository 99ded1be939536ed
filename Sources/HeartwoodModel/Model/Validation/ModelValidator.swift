public import HeartwoodFoundation

/// Finds every fault in the definitions of a model, in time proportional to their size.
struct ModelValidator {
  /// The greatest number of properties of all entities together. Inherited properties count once for each entity.
  ///
  /// Inheritance multiplies: without a limit, a file of a few megabytes could describe a model that fits in no memory.
  static let mostProperties = 1_000_000

  let index: DefinitionIndex
  private let configurations: [String: [String]]
  let fetchRequestTemplates: [FetchRequestTemplate]

  init(
    definitions: [EntityDefinition],
    configurations: [String: [String]],
    fetchRequestTemplates: [FetchRequestTemplate] = []
  ) {
    self.index = DefinitionIndex(definitions)
    self.configurations = configurations
    self.fetchRequestTemplates = fetchRequestTemplates
  }

  /// Returns all faults in the order of the definitions, followed by those of the configurations; empty if the model is
  /// valid.
  func faults() -> [ModelFault] {
    var faults: [ModelFault] = []
    let inheritance = InheritanceSurvey(index)
    for entity in index.definitions.indices {
      checkName(of: entity, &faults)
      checkParent(of: entity, inheritance, &faults)
      checkProperties(of: entity, &faults)
      checkUniquenessConstraints(of: entity, &faults)
      checkFetching(of: entity, &faults)
    }
    if faults.isEmpty { checkSize(&faults) }
    for name in configurations.keys.sorted() { checkConfiguration(name, &faults) }
    checkFetchRequestTemplates(&faults)
    return faults
  }
}

extension ModelValidator {
  private func checkName(of entity: Int, _ faults: inout [ModelFault]) {
    let name = index.definitions[entity].name
    if !ModelName.isAllowed(name) {
      add("The entity's name is \(quoted(name)). \(ModelName.rule)", at: .entity(entity), &faults)
    }
    if index.ordinal(ofEntity: name) != entity {
      add("Another entity has the same name. Rename one of them.", at: .entity(entity), &faults)
    }
  }

  private func checkParent(of entity: Int, _ inheritance: InheritanceSurvey, _ faults: inout [ModelFault]) {
    if let parent = index.definitions[entity].superentityName, index.parents[entity] == nil {
      let advice = "Add that entity to the model, or correct the name."
      add("The parent \(quoted(parent)) does not exist. \(advice)", at: .entity(entity), &faults)
    }
    if let names = inheritance.circle(foundAt: entity) {
      add("The entity inherits from itself (\(names)). Remove one of the parents.", at: .entity(entity), &faults)
    }
    if inheritance.isFirstTooDeep(entity) {
      let limit = ManagedObjectModel.deepestInheritance
      add("The entity has more than \(limit) ancestors. Make the hierarchy flatter.", at: .entity(entity), &faults)
    }
  }

  private func checkUniquenessConstraints(of entity: Int, _ faults: inout [ModelFault]) {
    for (number, names) in index.definitions[entity].uniquenessConstraints.enumerated() {
      let location = ModelFault.Location.uniquenessConstraint(entity: entity, index: number)
      if names.isEmpty {
        add("A uniqueness constraint names no attribute. Name at least one, or remove it.", at: location, &faults)
      }
      var seen: Set<String> = []
      for name in names {
        if !seen.insert(name).inserted {
          add("A uniqueness constraint names \(quoted(name)) twice. Name it once.", at: location, &faults)
        } else if let reason = reasonAgainstUniqueness(of: name, in: entity) {
          add("A uniqueness constraint names \(quoted(name)), \(reason)", at: location, &faults)
        }
      }
    }
  }

  private func reasonAgainstUniqueness(of name: String, in entity: Int) -> String? {
    guard let place = index.place(ofProperty: name, in: entity) else {
      return "which the entity does not have. Add the attribute, or correct the name."
    }
    if index.definitions[entity].hasUnenforcedConstraints { return nil }
    switch index.property(at: place) {
    case .relationship:
      return "which is a relationship. Only attributes can be unique: name an attribute."
    case .attribute(let attribute) where attribute.isTransient:
      return "which is transient, so that no store sees its values. Name a stored attribute."
    case .attribute:
      return nil
    }
  }

  private func checkConfiguration(_ name: String, _ faults: inout [ModelFault]) {
    let location = ModelFault.Location.configuration(name)
    if name.isEmpty { add("A configuration has an empty name. Give it a name.", at: location, &faults) }
    var seen: Set<String> = []
    for member in configurations[name] ?? [] {
      if !seen.insert(member).inserted {
        add("The entity \(quoted(member)) is listed twice. List it once.", at: location, &faults)
      } else if index.ordinal(ofEntity: member) == nil {
        let advice = "Add that entity to the model, or correct the name."
        add("The entity \(quoted(member)) does not exist. \(advice)", at: location, &faults)
      }
    }
  }

  /// Reports the entity at which there are too many properties. The parents must be valid.
  private func checkSize(_ faults: inout [ModelFault]) {
    var count = 0
    for entity in index.definitions.indices {
      count += index.lineage(of: entity).reduce(0) { $0 + index.definitions[$1].properties.count }
      guard count > Self.mostProperties else { continue }
      let advice = "Split the model, or make fewer entities inherit."
      let message = "Up to here the entities have \(count) properties, the inherited ones counted for each entity"
      add("\(message); \(Self.mostProperties) are allowed. \(advice)", at: .entity(entity), &faults)
      return
    }
  }
}

extension ModelValidator {
  func add(_ message: String, at location: ModelFault.Location, _ faults: inout [ModelFault]) {
    faults.append(ModelFault(path: path(of: location), message: message, location: location))
  }

  /// Returns `name` for a message. Names from files may be of any length, so it is shortened.
  func quoted(_ name: String) -> String {
    let longest = 100
    return "“" + (name.count > longest ? name.prefix(longest) + "…" : name[...]) + "”"
  }

  private func path(of location: ModelFault.Location) -> String {
    switch location {
    case .entity(let entity), .uniquenessConstraint(let entity, _), .fetchIndex(let entity, _),
      .fetchedProperty(let entity, _):
      entityPath(entity)
    case .property(let entity, let index): entityPath(entity) + "." + propertyPath(entity, index)
    case .configuration(let name): "configuration \(name)"
    case .fetchRequest(let number): "fetch request \(fetchRequestTemplates[number].name)"
    }
  }

  private func entityPath(_ entity: Int) -> String {
    let name = index.definitions[entity].name
    return name.isEmpty ? "entity number \(entity + 1)" : name
  }

  private func propertyPath(_ entity: Int, _ property: Int) -> String {
    let name = index.definitions[entity].properties[property].name
    return name.isEmpty ? "property number \(property + 1)" : name
  }
}

// MARK: Fetching

extension ModelValidator {
  /// Checks the indexes, fetched properties and composite attributes of an entity.
  func checkFetching(of entity: Int, _ faults: inout [ModelFault]) {
    let definition = index.definitions[entity]
    var indexNames: Set<String> = []
    for (number, fetchIndex) in definition.fetchIndexes.enumerated() {
      let location = ModelFault.Location.fetchIndex(entity: entity, index: number)
      if !indexNames.insert(fetchIndex.name).inserted {
        add("Another index is called \(quoted(fetchIndex.name)). Rename one of them.", at: location, &faults)
      }
      checkElements(of: fetchIndex, of: entity, at: location, &faults)
    }
    var names: Set<String> = []
    for (number, property) in definition.fetchedProperties.enumerated() {
      let location = ModelFault.Location.fetchedProperty(entity: entity, index: number)
      checkName(ofBeside: property.name, of: entity, &names, at: location, &faults)
      checkEntity(property.fetchRequest.entityName, at: location, &faults)
    }
    for composite in definition.compositeAttributes {
      checkName(ofBeside: composite.name, of: entity, &names, at: .entity(entity), &faults)
      for element in composite.elements where !isAttribute(element.attributeName, of: entity) {
        let advice = "Add the attribute, or remove the part."
        let part = quoted(composite.name + "." + element.name)
        let message = "The part \(part) stands for \(quoted(element.attributeName)), which is not an attribute."
        add("\(message) \(advice)", at: .entity(entity), &faults)
      }
    }
  }

  func checkFetchRequestTemplates(_ faults: inout [ModelFault]) {
    var names: Set<String> = []
    for (number, template) in fetchRequestTemplates.enumerated() {
      if !names.insert(template.name).inserted {
        add("Another fetch request has the same name. Rename one of them.", at: .fetchRequest(number), &faults)
      }
      checkEntity(template.entityName, at: .fetchRequest(number), &faults)
    }
  }

  private func checkElements(
    of fetchIndex: FetchIndexDescription,
    of entity: Int,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) {
    let title = "The index \(quoted(fetchIndex.name))"
    if fetchIndex.elements.isEmpty {
      add("\(title) names no property. Name at least one, or remove it.", at: location, &faults)
    }
    for name in fetchIndex.elements.compactMap(\.propertyName)
    where index.place(ofProperty: name, in: entity) == nil && !Self.virtualNames.contains(name) {
      let advice = "Add the property, or correct the name."
      add("\(title) names \(quoted(name)), which the entity does not have. \(advice)", at: location, &faults)
    }
  }

  /// The names in addition to properties that an index may have: the record itself, and its entity.
  private static let virtualNames: Set<String> = ["self", "entity"]

  private func checkName(
    ofBeside name: String,
    of entity: Int,
    _ names: inout Set<String>,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) {
    if !ModelName.isAllowed(name) {
      add("The property's name is \(quoted(name)). \(ModelName.rule)", at: location, &faults)
    } else if !names.insert(name).inserted || index.index(ofOwnProperty: name, in: entity) != nil {
      add("The entity has another property called \(quoted(name)). Rename one of them.", at: location, &faults)
    } else if let owner = index.ancestor(naming: name, of: entity) {
      let owner = quoted(index.definitions[owner].name)
      let message = "The entity inherits another property called \(quoted(name)) from \(owner)."
      add("\(message) Rename one of them, or remove this one.", at: location, &faults)
    }
  }

  private func checkEntity(_ name: String, at location: ModelFault.Location, _ faults: inout [ModelFault]) {
    guard index.ordinal(ofEntity: name) == nil else { return }
    let advice = "Add that entity to the model, or correct the name."
    add("It fetches objects of \(quoted(name)), which does not exist. \(advice)", at: location, &faults)
  }

  private func isAttribute(_ name: String, of entity: Int) -> Bool {
    index.place(ofProperty: name, in: entity).map { index.property(at: $0).attribute != nil } ?? false
  }
}

// MARK: ModelValidationError

/// All faults in the definitions of a model.
///
/// Its description lists them, one in each line, with what to do about each.
public struct ModelValidationError: Error, Sendable, Hashable {
  /// At least one fault, in the order of the definitions.
  public let faults: [ModelFault]
}

/// A fault in the definitions of a model.
public struct ModelFault: Sendable, Hashable {
  /// The path of an entity (`ToDo`), a property (`ToDo.memo`) or a configuration (`configuration Cloud`).
  public let path: String
  /// The problem, and what to do.
  public let message: String
  /// The place by index, for readers that have the line of each definition.
  package let location: Location

  package enum Location: Sendable, Hashable {
    case entity(Int)
    case property(entity: Int, index: Int)
    case uniquenessConstraint(entity: Int, index: Int)
    case fetchIndex(entity: Int, index: Int)
    case fetchedProperty(entity: Int, index: Int)
    case configuration(String)
    case fetchRequest(Int)
  }
}

extension ModelFault: CustomStringConvertible {
  /// The path and the message.
  public var description: String { "\(path): \(message)" }
}

extension ModelValidationError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension ModelValidationError: CustomStringConvertible {
  /// All faults, one in each line.
  public var description: String {
    let summary = faults.count == 1 ? "The model has a fault:" : "The model has \(faults.count) faults:"
    return ([summary] + faults.map { "  \($0)" }).joined(separator: "\n")
  }
}
