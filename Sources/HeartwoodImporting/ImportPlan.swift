import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// Describes how records become objects of one entity, as the model says in the `userInfo` of the entity and its
/// properties, under the keys of MagicalRecord's import.
struct ImportPlan {
  /// The places of a property's value in a record.
  struct Source {
    let name: String
    let keyPaths: [ImportKeyPath]
  }

  struct Attribute {
    let ordinal: Int
    let type: AttributeType
    let source: Source
    let dates: ImportDateFormat
    /// The value to set if a record has none.
    let absentValue: PropertyValue?
  }

  struct Relationship {
    let ordinal: Int
    let isToMany: Bool
    let source: Source
    let destination: EntityDescription
    /// The attribute of the destination that identifies its objects.
    let keyName: String?
  }

  let attributes: [Attribute]
  let relationships: [Relationship]
  /// The attribute that identifies the entity's objects.
  let keyName: String?
  /// The mistake in the model's description of this attribute.
  let keyMistake: PersistenceError?

  /// - Throws: ``PersistenceError/Code/importMappingUnusable``.
  init(_ entity: EntityDescription, in model: ManagedObjectModel) throws(PersistenceError) {
    keyName = Self.keyName(of: entity)
    keyMistake = Self.keyMistake(of: entity)
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    for (ordinal, property) in entity.properties.enumerated() {
      switch property {
      case .attribute(let attribute):
        // Derived attributes are computed from the others.
        if attribute.derivationExpression == nil { attributes.append(try Attribute(attribute, ordinal, of: entity)) }
      case .relationship(let relationship):
        guard let target = entity.relationshipTargets[ordinal] else { continue }
        let destination = model.entities[target.entityOrdinal]
        relationships.append(try Relationship(relationship, ordinal, of: entity, to: destination))
      }
    }
    self.attributes = attributes
    self.relationships = relationships
  }

  /// Returns the attribute called `name`, or nil if it is derived.
  func attribute(named name: String) -> Attribute? { attributes.first { $0.source.name == name } }
}

/// The keys in the `userInfo` of a model.
enum ImportKey {
  static let mappedKeyName = "mappedKeyName"
  static let relatedByAttribute = "relatedByAttribute"
  static let dateFormat = "dateFormat"
  static let useDefaultValueWhenNotPresent = "useDefaultValueWhenNotPresent"
  /// The date format of numbers that are milliseconds.
  static let unixTime = "UnixTime"
}

extension ImportPlan.Source {
  init(_ property: PropertyDescription) {
    let userInfo = property.userInfo
    let alternatives = (0...9).compactMap { userInfo["\(ImportKey.mappedKeyName).\($0)"] }
    name = property.name
    keyPaths = ([userInfo[ImportKey.mappedKeyName] ?? property.name] + alternatives).map(ImportKeyPath.init)
  }

  /// Returns the value of the first of the keys that a record has, and that key; nil if it has none of them.
  func value(in record: ImportValue) -> (value: ImportValue, keyPath: ImportKeyPath)? {
    for keyPath in keyPaths {
      if let value = keyPath.value(in: record) { return (value, keyPath) }
    }
    return nil
  }
}

extension ImportPlan.Attribute {
  fileprivate init(
    _ attribute: AttributeDescription,
    _ ordinal: Int,
    of entity: EntityDescription
  ) throws(PersistenceError) {
    self.ordinal = ordinal
    type = attribute.type
    source = ImportPlan.Source(.attribute(attribute))
    let usesDefault = ImportValue.scalar(
      .string(attribute.userInfo[ImportKey.useDefaultValueWhenNotPresent] ?? "false")
    )
    absentValue = usesDefault.propertyValue(of: .boolean) == .boolean(true) ? attribute.defaultValue : nil
    switch attribute.userInfo[ImportKey.dateFormat] {
    case nil: dates = .iso8601
    case ImportKey.unixTime: dates = .milliseconds
    case let text?:
      guard let pattern = DatePattern(text) else {
        throw ImportPlan.mistake(
          "The dateFormat in its userInfo is no pattern that can be read: a letter is none of a date, or a quote is open.",
          entity,
          attribute.name
        )
      }
      dates = .pattern(pattern)
    }
  }
}

extension ImportPlan.Relationship {
  fileprivate init(
    _ relationship: RelationshipDescription,
    _ ordinal: Int,
    of entity: EntityDescription,
    to destination: EntityDescription
  ) throws(PersistenceError) {
    self.ordinal = ordinal
    self.destination = destination
    isToMany = relationship.isToMany
    source = ImportPlan.Source(.relationship(relationship))
    guard let name = relationship.userInfo[ImportKey.relatedByAttribute] else {
      keyName = ImportPlan.keyName(of: destination)
      return
    }
    if let fault = ImportPlan.fault(ofKey: name, of: destination) {
      throw ImportPlan.mistake("Its userInfo says relatedByAttribute, and \(fault).", entity, relationship.name)
    }
    keyName = name
  }
}

// MARK: Identifying attributes

extension ImportPlan {
  /// Returns the attribute that the entity or its nearest ancestor names, or the attribute with the entity's name:
  /// `personID` of `Person`.
  ///
  /// A name of a missing attribute is ignored here: only records of the entity itself need it, which use
  /// ``keyMistake(of:)``.
  fileprivate static func keyName(of entity: EntityDescription) -> String? {
    for ancestor in entity.lineage {
      let ownName = ancestor.name.prefix(1).lowercased() + ancestor.name.dropFirst() + "ID"
      for name in [ancestor.userInfo[ImportKey.relatedByAttribute], ownName] {
        if let name, fault(ofKey: name, of: ancestor) == nil { return name }
      }
    }
    return nil
  }

  /// Returns the mistake in the attribute name that the entity or an ancestor gives.
  fileprivate static func keyMistake(of entity: EntityDescription) -> PersistenceError? {
    for ancestor in entity.lineage {
      guard let name = ancestor.userInfo[ImportKey.relatedByAttribute] else { continue }
      // Names of further ancestors are not needed then.
      guard let fault = fault(ofKey: name, of: ancestor) else { return nil }
      return mistake("Its userInfo says relatedByAttribute, and \(fault).", ancestor, nil)
    }
    return nil
  }

  /// Returns why the property called `name` cannot identify objects, or nil if it can.
  fileprivate static func fault(ofKey name: String, of entity: EntityDescription) -> String? {
    guard let attribute = entity.property(named: name)?.attribute else {
      return "\(entity.name) has no attribute called \(name)"
    }
    if attribute.derivationExpression != nil { return "\(name) is derived, so no record gives it" }
    return attribute.isTransient ? "\(name) is transient, so no object is found by it" : nil
  }

  fileprivate static func mistake(
    _ message: String,
    _ entity: EntityDescription,
    _ property: String?
  ) -> PersistenceError {
    PersistenceError(
      .importMappingUnusable,
      message,
      context: .init(entity: entity.name, property: property)
    )
  }
}

extension EntityDescription {
  /// Returns the entity and its ancestors, nearest first.
  fileprivate var lineage: [EntityDescription] {
    Array(sequence(first: self, next: \.superentity))
  }
}

// MARK: ImportPlace

/// A place in the imported records.
indirect enum ImportPlace {
  case root
  case element(ImportPlace, Int)
  case member(ImportPlace, String)

  /// The number of arrays and records that contain the place.
  var depth: Int {
    var (depth, place) = (0, self)
    while let outer = place.outer { (depth, place) = (depth + 1, outer) }
    return depth
  }

  private var outer: ImportPlace? {
    switch self {
    case .root: nil
    case .element(let outer, _), .member(let outer, _): outer
    }
  }
}

extension ImportPlace: CustomStringConvertible {
  /// The path, such as `[3].owner.id`; empty for the root.
  var description: String {
    var (parts, place): ([String], ImportPlace) = ([], self)
    while let outer = place.outer {
      switch place {
      case .root: break
      case .element(_, let index): parts.append("[\(index)]")
      case .member(.root, let key): parts.append(key)
      case .member(_, let key): parts.append(".\(key)")
      }
      place = outer
    }
    return parts.reversed().joined()
  }
}

extension ImportFault {
  static func tooDeep(_ place: ImportPlace) -> ImportFault {
    ImportFault(
      path: place.description,
      "Arrays and records are in each other more than \(ImportValue.greatestDepth) deep here."
    )
  }
}

// MARK: ImportKeyPath

/// The place of a value in a record: a key, or the keys of nested records, joined by dots.
struct ImportKeyPath {
  let text: String
  private let keys: [String]

  init(_ text: String) {
    self.text = text
    keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns the value at this key path, or nil if there is none. A key that itself contains the dots is preferred.
  func value(in record: ImportValue) -> ImportValue? {
    if keys.count == 1 { return record[text] }
    if let value = record[text] { return value }
    var value: ImportValue? = record
    for key in keys { value = value?[key] }
    return value
  }
}
