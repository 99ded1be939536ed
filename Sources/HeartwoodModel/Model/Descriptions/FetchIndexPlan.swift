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
