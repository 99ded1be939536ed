/// An index of an entity: properties by whose values its objects shall be found fast.
///
/// It is a wish that stores fulfil in their own way. It does not enter version hashes.
public struct FetchIndexDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// What is indexed, most significant first.
  public var elements: [FetchIndexElementDescription]
  /// Which objects the index covers; nil means all.
  public var partialIndexPredicate: FetchPredicate?

  /// An index that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(
    name: String,
    elements: [FetchIndexElementDescription],
    partialIndexPredicate: FetchPredicate? = nil
  ) {
    self.name = name
    self.elements = elements
    self.partialIndexPredicate = partialIndexPredicate
  }

  /// An index over properties, small values first.
  public init(name: String, properties: [String]) {
    self.init(name: name, elements: properties.map { FetchIndexElementDescription(.property($0)) })
  }
}

/// A part of an index.
public struct FetchIndexElementDescription: Sendable, Hashable {
  /// What is indexed.
  public enum Subject: Sendable, Hashable {
    /// The property of this name, own or inherited.
    case property(String)
    /// What an expression makes of an object.
    case expression(FetchExpression)
  }

  /// How values are found. The raw value is how it is written.
  public enum CollationType: String, Sendable, Hashable, CaseIterable, Codable {
    /// By their order.
    case binary
    /// By ranges in several dimensions, for numbers.
    case rTree
  }

  /// What is indexed.
  public var subject: Subject
  /// How values are found.
  public var collationType: CollationType
  /// Whether small values come first.
  public var isAscending: Bool

  /// A part of an index that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(_ subject: Subject, collationType: CollationType = .binary, isAscending: Bool = true) {
    self.subject = subject
    self.collationType = collationType
    self.isAscending = isAscending
  }

  /// The name of the property; nil for an expression.
  public var propertyName: String? {
    if case .property(let name) = subject { name } else { nil }
  }
}

// MARK: FetchIndexPlan

/// An index as atomic stores use it: records in the order of some of their properties.
package struct FetchIndexPlan: Sendable, Hashable {
  /// What records are ordered by.
  package struct Element: Sendable, Hashable {
    package let ordinal: Int
    package let isAscending: Bool
  }

  /// Elements beyond the fourth are ignored.
  package static let mostElements = 4

  package let name: String
  /// Most significant first; there is one at least.
  package let elements: [Element]
  /// What all records of a partial index meet, and no other record; without any it has all records.
  package let conditions: [PlanPredicate]
  /// The ordinals of the properties that the conditions are about.
  package let conditionOrdinals: [Int]

  /// Nil where the index begins with something that has no order, or where it is not known for each record alone whether it is in it.
  init?(_ index: FetchIndexDescription, of entity: EntityDescription, in model: ManagedObjectModel) {
    name = index.name
    elements = index.elements.prefix(Self.mostElements).map { Self.element($0, entity) }.prefix { $0 != nil }
      .compactMap(\.self)
    if elements.isEmpty { return nil }
    guard let predicate = index.partialIndexPredicate else {
      (conditions, conditionOrdinals) = ([], [])
      return
    }
    // try?: an index that cannot be planned is not made; fetches are no others without it.
    guard !predicate.applies(.now), let plan = try? PredicateCompiler.compile(predicate, for: entity, in: model),
      plan.destinationOrdinals.isEmpty, let properties = plan.ownProperties
    else { return nil }
    conditions = plan.conjuncts
    conditionOrdinals = properties.map(\.ordinal).sorted()
  }

  private static func element(_ element: FetchIndexElementDescription, _ entity: EntityDescription) -> Element? {
    guard element.collationType == .binary, let name = element.propertyName,
      let ordinal = entity.ordinal(ofProperty: name),
      entity.properties[ordinal].isIndexable
    else { return nil }
    return Element(ordinal: ordinal, isAscending: element.isAscending)
  }
}

extension PropertyDescription {
  /// Whether a column of such values can be put in an order in which fetches find them.
  fileprivate var isIndexable: Bool {
    switch self {
    case _ where isTransient: false
    case .attribute(let attribute): attribute.type != .uri
    case .relationship(let relationship): !relationship.isToMany
    }
  }
}
