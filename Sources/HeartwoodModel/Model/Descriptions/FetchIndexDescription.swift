/// An index of an entity: the properties by whose values its objects should be found fast.
///
/// It is a hint, which each store follows in its own way. It is not part of version hashes.
public struct FetchIndexDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// The indexed properties and expressions, the most significant first.
  public var elements: [FetchIndexElementDescription]
  /// The condition on the objects in the index; nil means all objects.
  public var partialIndexPredicate: FetchPredicate?

  /// Makes an index without validating it; a ``ManagedObjectModel`` reports its faults.
  public init(
    name: String,
    elements: [FetchIndexElementDescription],
    partialIndexPredicate: FetchPredicate? = nil
  ) {
    self.name = name
    self.elements = elements
    self.partialIndexPredicate = partialIndexPredicate
  }

  /// Makes an index over properties, in ascending order.
  public init(name: String, properties: [String]) {
    self.init(name: name, elements: properties.map { FetchIndexElementDescription(.property($0)) })
  }
}

/// One indexed property or expression.
public struct FetchIndexElementDescription: Sendable, Hashable {
  /// What an element of an index indexes.
  public enum Subject: Sendable, Hashable {
    /// The property with this name, own or inherited.
    case property(String)
    /// The value of an expression for each object.
    case expression(FetchExpression)
  }

  /// How the index finds values. The raw value is the spelling in files.
  public enum CollationType: String, Sendable, Hashable, CaseIterable, Codable {
    /// By the order of the values.
    case binary
    /// By ranges in several dimensions, for numbers.
    case rTree
  }

  /// The indexed property or expression.
  public var subject: Subject
  /// How the index finds values.
  public var collationType: CollationType
  /// Whether the index is in ascending order.
  public var isAscending: Bool

  /// Makes an element without validating it; a ``ManagedObjectModel`` reports its faults.
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

/// An index as atomic stores use it: records sorted by some of their properties.
package struct FetchIndexPlan: Sendable, Hashable {
  /// A property by which records are sorted.
  package struct Element: Sendable, Hashable {
    package let ordinal: Int
    package let isAscending: Bool
  }

  /// Elements beyond the fourth are ignored.
  package static let mostElements = 4

  package let name: String
  /// The properties by which records are sorted, the most significant first; at least one.
  package let elements: [Element]
  /// The conditions of a partial index: it contains the records that meet all of them. If there are none, it contains
  /// all records.
  package let conditions: [CompiledPredicate]
  /// The ordinals of the properties that the conditions read.
  package let conditionOrdinals: [Int]

  /// Returns nil if the first element of the index has no order, or if the condition of a partial index needs more than
  /// each record alone.
  init?(_ index: FetchIndexDescription, of entity: EntityDescription, in model: ManagedObjectModel) {
    name = index.name
    elements = index.elements.prefix(Self.mostElements).map { Self.element($0, entity) }.prefix { $0 != nil }
      .compactMap(\.self)
    if elements.isEmpty { return nil }
    guard let predicate = index.partialIndexPredicate else {
      (conditions, conditionOrdinals) = ([], [])
      return
    }
    // try?: an index that cannot be planned is not made; fetches have the same results without it.
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
  /// Whether values of the property can be sorted so that fetches find them.
  fileprivate var isIndexable: Bool {
    switch self {
    case _ where isTransient: false
    case .attribute(let attribute): attribute.type != .uri
    case .relationship(let relationship): !relationship.isToMany
    }
  }
}
