extension PlanPredicate {
  /// The entities to which relationships are followed, by ordinal.
  package var destinationOrdinals: Set<Int> {
    switch self {
    case .literal: []
    case .not(let term): term.destinationOrdinals
    case .and(let terms), .or(let terms): terms.reduce(into: []) { $0.formUnion($1.destinationOrdinals) }
    case .comparison(let comparison):
      comparison.left.destinationOrdinals.union(comparison.right.destinationOrdinals)
    }
  }
}

extension PlanExpression {
  /// The entities to which relationships are followed, by ordinal.
  package var destinationOrdinals: Set<Int> {
    switch self {
    case .constant, .subject, .variable: return []
    case .property(let base, let property):
      return base.destinationOrdinals.union(property.destination.map { [$0] } ?? [])
    case .aggregate(let operands), .function(_, let operands):
      return operands.reduce(into: []) { $0.formUnion($1.destinationOrdinals) }
    case .collection(_, let operand), .cast(let operand, _): return operand.destinationOrdinals
    case .arithmetic(let left, _, let right): return left.destinationOrdinals.union(right.destinationOrdinals)
    case .subquery(let collection, _, let predicate):
      return collection.destinationOrdinals.union(predicate.destinationOrdinals)
    case .element(let collection, .at(let place)):
      return collection.destinationOrdinals.union(place.destinationOrdinals)
    case .element(let collection, _): return collection.destinationOrdinals
    case .conditional(let predicate, let first, let second):
      return predicate.destinationOrdinals.union(first.destinationOrdinals).union(second.destinationOrdinals)
    }
  }
}

// MARK: What is read of a record

/// What a plan reads of the tested object.
private struct OwnReading {
  var properties: Set<PlanProperty> = []
  /// Whether it reads the object itself.
  var readsSelf = false

  func and(_ other: OwnReading) -> OwnReading {
    OwnReading(properties: properties.union(other.properties), readsSelf: readsSelf || other.readsSelf)
  }
}

extension PlanExpression {
  /// The only property of the tested object that the expression reads; nil where it reads none, several, or the object itself.
  package var onlyProperty: PlanProperty? {
    let reading = ownReading
    return reading.properties.count == 1 && !reading.readsSelf ? reading.properties.first : nil
  }

  fileprivate var ownReading: OwnReading {
    switch self {
    case .constant, .variable: return OwnReading()
    case .subject: return OwnReading(readsSelf: true)
    case .property(of: .subject, let property): return OwnReading(properties: [property])
    case .property(let base, _): return base.ownReading
    case .aggregate(let operands), .function(_, let operands): return Self.ownReading(operands)
    case .collection(_, let operand), .cast(let operand, _): return operand.ownReading
    case .arithmetic(let left, _, let right): return left.ownReading.and(right.ownReading)
    case .subquery(let collection, _, let predicate): return collection.ownReading.and(predicate.ownReading)
    case .element(let collection, .at(let place)): return collection.ownReading.and(place.ownReading)
    case .element(let collection, _): return collection.ownReading
    case .conditional(let predicate, let first, let second):
      return predicate.ownReading.and(first.ownReading).and(second.ownReading)
    }
  }

  private static func ownReading(_ operands: [PlanExpression]) -> OwnReading {
    operands.reduce(OwnReading()) { $0.and($1.ownReading) }
  }
}

extension PlanPredicate {
  /// The properties of the tested object that the predicate reads; nil where it reads the object itself.
  var ownProperties: Set<PlanProperty>? {
    let reading = ownReading
    return reading.readsSelf ? nil : reading.properties
  }

  fileprivate var ownReading: OwnReading {
    switch self {
    case .literal: OwnReading()
    case .not(let term): term.ownReading
    case .and(let terms), .or(let terms): terms.reduce(OwnReading()) { $0.and($1.ownReading) }
    case .comparison(let comparison): comparison.left.ownReading.and(comparison.right.ownReading)
    }
  }
}
