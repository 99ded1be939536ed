import HeartwoodModel

/// Makes the elements of a `contents` file of a model.
struct DataModelWriter {
  private let model: ManagedObjectModel
  /// The composites by name.
  private let composites: [String: XMLElement]
  /// What the composites of attributes are called in the file, by the names of entity and attribute.
  private let compositeNames: [[String]: String]

  private init(model: ManagedObjectModel) {
    self.model = model
    var composites: [String: XMLElement] = [:]
    var names: [[String]: String] = [:]
    for entity in model.entities.map(\.definition) {
      for composite in entity.compositeAttributes {
        names[[entity.name, composite.name]] = CompositeWriter(composite, of: entity).add(to: &composites)
      }
    }
    self.composites = composites
    self.compositeNames = names
  }

  /// The whole tree for `model`, as for a model that Xcode has not seen yet.
  static func root(of model: ManagedObjectModel) -> XMLElement {
    DataModelWriter(model: model).root
  }

  private var root: XMLElement {
    XMLElement(
      "model",
      [
        "type": "com.apple.IDECoreDataModeler.DataModel",
        "documentVersion": "1.0",
        "lastSavedToolsVersion": "1",
        "systemVersion": "1",
        "minimumToolsVersion": "Automatic",
        "sourceLanguage": "Swift",
        "userDefinedModelVersionIdentifier": model.versionIdentifiers.first ?? "",
      ],
      children: model.entities.map { entity($0.definition) } + fetchRequests + configurations + sortedComposites
    )
  }

  private var fetchRequests: [XMLElement] {
    model.fetchRequestTemplates.map(Self.fetchRequest)
  }

  private var sortedComposites: [XMLElement] {
    composites.sorted { $0.key < $1.key }.map(\.value)
  }

  private var configurations: [XMLElement] {
    model.configurations.sorted { $0.key < $1.key }.map { name, members in
      XMLElement(
        "configuration",
        ["name": name],
        children: members.map { XMLElement("memberEntity", ["name": $0]) }
      )
    }
  }
}

// MARK: Entities

extension DataModelWriter {
  private func entity(_ entity: EntityDefinition) -> XMLElement {
    XMLElement(
      "entity",
      [
        "name": entity.name,
        "representedClassName": entity.managedObjectClassName,
        "isAbstract": entity.isAbstract ? "YES" : nil,
        "parentEntity": entity.superentityName,
        "elementID": entity.renamingIdentifier,
        "versionHashModifier": entity.versionHashModifier,
        "syncable": "YES",
      ],
      children: properties(of: entity) + entity.fetchedProperties.map(Self.fetchedProperty)
        + entity.fetchIndexes.map(Self.fetchIndex)
        + Self.uniqueness(entity) + Self.userInfo(entity.userInfo)
    )
  }

  /// The attributes and relationships; one that is made of others stands where the first of its parts does.
  private func properties(of entity: EntityDefinition) -> [XMLElement] {
    var composites: [String: CompositeAttributeDescription] = [:]
    for composite in entity.compositeAttributes {
      for element in composite.elements { composites[element.attributeName] = composite }
    }
    var written: Set<String> = []
    return entity.properties.compactMap { property in
      guard let composite = composites[property.name] else { return Self.property(property) }
      guard written.insert(composite.name).inserted else { return nil }
      let name = compositeNames[[entity.name, composite.name]] ?? composite.compositeName
      return CompositeWriter(composite, of: entity).attribute(compositeName: name)
    }
  }

  private static func property(_ property: PropertyDescription) -> XMLElement {
    switch property {
    case .attribute(let attribute): Self.attribute(attribute)
    case .relationship(let relationship): Self.relationship(relationship)
    }
  }

  static func uniqueness(_ entity: EntityDefinition) -> [XMLElement] {
    guard !entity.uniquenessConstraints.isEmpty else { return [] }
    let constraints = entity.uniquenessConstraints.map { names in
      XMLElement("uniquenessConstraint", children: names.map { XMLElement("constraint", ["value": $0]) })
    }
    return [XMLElement("uniquenessConstraints", children: constraints)]
  }

  static func userInfo(_ userInfo: [String: String]) -> [XMLElement] {
    guard !userInfo.isEmpty else { return [] }
    let entries = userInfo.sorted { $0.key < $1.key }.map { XMLElement("entry", ["key": $0.key, "value": $0.value]) }
    return [XMLElement("userInfo", children: entries)]
  }

  static func fetchedProperty(_ property: FetchedPropertyDescription) -> XMLElement {
    XMLElement(
      "fetchedProperty",
      [
        "name": property.name,
        "optional": property.isOptional ? "YES" : nil,
        "elementID": property.renamingIdentifier,
        "versionHashModifier": property.versionHashModifier,
      ],
      children: [fetchRequest(property.fetchRequest)] + userInfo(property.userInfo)
    )
  }

  static func fetchRequest(_ request: FetchRequestTemplate) -> XMLElement {
    XMLElement(
      "fetchRequest",
      [
        "name": request.name,
        "entity": request.entityName,
        "predicateString": request.predicate?.description,
        "resultType": request.resultType == .objects ? nil : "\(request.resultType.dataModelNumber)",
        "fetchLimit": request.fetchLimit == 0 ? nil : "\(request.fetchLimit)",
        "fetchBatchSize": request.fetchBatchSize == 0 ? nil : "\(request.fetchBatchSize)",
        "includeSubentities": request.includesSubentities ? nil : "NO",
        "includePropertyValues": request.includesPropertyValues ? nil : "NO",
        "includesPendingChanges": request.includesPendingChanges ? nil : "NO",
        "returnObjectsAsFaults": request.returnsObjectsAsFaults ? nil : "NO",
        "returnDistinctResults": request.returnsDistinctResults ? "YES" : nil,
      ]
    )
  }

  static func fetchIndex(_ index: FetchIndexDescription) -> XMLElement {
    let elements = index.elements.map { element in
      let expression: String? =
        if case .expression(let expression) = element.subject { expression.description } else { nil }
      return XMLElement(
        "fetchIndexElement",
        [
          "property": element.propertyName,
          "expression": expression,
          "type": element.collationType == .rTree ? "RTree" : "Binary",
          "order": element.isAscending ? "ascending" : "descending",
        ]
      )
    }
    return XMLElement(
      "fetchIndex",
      ["name": index.name, "partialIndexPredicate": index.partialIndexPredicate?.description],
      children: elements
    )
  }
}
