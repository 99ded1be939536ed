extension ModelValidator {
  /// Checks what an entity says of fetches: its indexes, fetched properties and composite attributes.
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
        let advice = "Add the attribute, or take the part away."
        let part = quoted(composite.name + "." + element.name)
        let message = "The part \(part) stands for \(quoted(element.attributeName)), which is no attribute."
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
      add("\(title) names no property. Name one at least, or take it away.", at: location, &faults)
    }
    for name in fetchIndex.elements.compactMap(\.propertyName)
    where index.place(ofProperty: name, in: entity) == nil && !Self.virtualNames.contains(name) {
      let advice = "Add the property, or correct the name."
      add("\(title) names \(quoted(name)), which the entity does not have. \(advice)", at: location, &faults)
    }
  }

  /// What an index may name beside properties: the record itself, and its entity.
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
      add("\(message) Rename one of them, or take this one away.", at: location, &faults)
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
