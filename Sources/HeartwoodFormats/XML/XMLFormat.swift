import HeartwoodModel
import HeartwoodStore

/// The names in Core Data's XML: `Formats/XML` is the specification.
enum XMLFormat {
  static let prologue = """
    <?xml version="1.0"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">


    """
  /// The version of the format that Core Data writes.
  static let version = "134481920"
  /// The least number that Core Data gives to a record.
  static let firstNumber: Int64 = 102
  /// The longest list of references that is written: libxml2 reads attributes of up to a billion bytes.
  static let longestReferenceList = 900_000_000
  /// The longest text that is written; every reader accepts it by default.
  static let longestText = XMLLimits().textLength

  /// Returns the name of an entity in a file.
  static func fileName(ofEntity name: String) -> String { name.uppercased() }

  /// Returns the name of a property in a file.
  static func fileName(ofProperty name: String) -> String { name.lowercased() }

  /// Returns the name of a type in a file.
  static func typeName(_ type: AttributeType) -> String {
    switch type {
    case .integer16: "int16"
    case .integer32: "int32"
    case .integer64: "int64"
    case .decimal: "decimal"
    case .double: "double"
    case .float: "float"
    case .string: "string"
    case .boolean: "bool"
    case .date: "date"
    case .binary: "binary"
    case .uuid: "uuid"
    case .uri: "uri"
    case .transformable: "transformable"
    case .undefined: "undefined"
    }
  }

  /// The types whose names in Core Data's files are known; for the others, files of other programs may contain other
  /// names.
  static let knownTypes: Set<AttributeType> = [
    .integer16, .integer32, .integer64, .float, .string, .boolean, .date, .binary,
  ]

  /// Returns the least and the greatest count of a relationship, as Core Data writes them.
  static func counts(_ relationship: RelationshipDescription) -> String {
    relationship.isToMany ? "\(relationship.minCount)/\(relationship.maxCount)" : "1/1"
  }
}

// MARK: XMLSchema

/// The names of a model's entities and properties in a file, which are all in capitals or all in small letters.
struct XMLSchema: Sendable {
  /// A property as it is in a file.
  struct Property: Sendable {
    enum Content: Sendable {
      case attribute(AttributeType)
      case toOne
      case toMany
    }

    let name: String
    let ordinal: Int
    let content: Content
    /// The entities that a relationship's objects may be of.
    let targets: [Int]
    /// The name of the destination entity in the file.
    let destination: String
    let counts: String
  }

  /// An entity that has records of its own.
  struct Entity: Sendable {
    let name: String
    let description: EntityDescription
    /// The attributes, then the to-one and then the to-many relationships, as Core Data orders them.
    let properties: [Property]
  }

  let entities: [Entity]
  /// The names in the file of all entities of the model, by ordinal.
  let entityNames: [String]

  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if two names differ in case only.
  init(_ model: ManagedObjectModel, entities kept: [EntityDescription], path: String?) throws(PersistenceError) {
    let names = model.entities.map { XMLFormat.fileName(ofEntity: $0.name) }
    entityNames = names
    if let clash = Self.clash(kept.map { ($0.name, names[$0.ordinal]) }) {
      throw Self.clashError("entities \(clash)", path: path, entity: nil)
    }
    var entities: [Entity] = []
    for entity in kept where !entity.isAbstract {
      let properties = entity.properties.indices.compactMap { Self.property($0, of: entity, model, names) }
      if let clash = Self.clash(properties.map { (entity.properties[$0.ordinal].name, $0.name) }) {
        throw Self.clashError("properties \(clash)", path: path, entity: entity.name)
      }
      entities.append(
        Entity(
          name: names[entity.ordinal],
          description: entity,
          properties: Self.sorted(properties)
        )
      )
    }
    self.entities = entities
  }

  private static func property(
    _ ordinal: Int,
    of entity: EntityDescription,
    _ model: ManagedObjectModel,
    _ names: [String]
  ) -> Property? {
    let property = entity.properties[ordinal]
    guard !property.isTransient else { return nil }
    let name = XMLFormat.fileName(ofProperty: property.name)
    guard let relationship = property.relationship, let target = entity.relationshipTargets[ordinal] else {
      return property.attribute.map {
        Property(name: name, ordinal: ordinal, content: .attribute($0.type), targets: [], destination: "", counts: "")
      }
    }
    let destination = model.entities[target.entityOrdinal]
    return Property(
      name: name,
      ordinal: ordinal,
      content: relationship.isToMany ? .toMany : .toOne,
      targets: model.concreteEntities(under: destination).map(\.ordinal),
      destination: names[destination.ordinal],
      counts: XMLFormat.counts(relationship)
    )
  }

  private static func sorted(_ properties: [Property]) -> [Property] {
    func rank(_ property: Property) -> Int {
      switch property.content {
      case .attribute: 0
      case .toOne: 1
      case .toMany: 2
      }
    }
    return (0...2).flatMap { wanted in properties.filter { rank($0) == wanted } }
  }

  /// Returns the first two names that are the same in the file.
  private static func clash(_ names: [(own: String, inFile: String)]) -> String? {
    var seen: [String: String] = [:]
    for name in names {
      if let other = seen.updateValue(name.own, forKey: name.inFile) { return "\(other) and \(name.own)" }
    }
    return nil
  }

  private static func clashError(_ what: String, path: String?, entity: String?) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "The names of the \(what) differ in case only, and an XML store does not keep case.",
      recovery: "Rename one, or choose another type of store.",
      context: .init(path: path, storeType: .xml, entity: entity)
    )
  }
}
