import HeartwoodModel
import HeartwoodStore

/// Whether a condition may be answered otherwise for one record because a batch has changed or deleted another one of the same table.
struct BatchReading {
  private let schema: SQLiteSchema
  private let rootNumber: Int
  /// The ordinals of the attributes that get values; nil where records go.
  private let ordinals: Set<Int>?

  /// - Parameter root: the number of the topmost entity of the records that the batch is about.
  init(_ action: RecordBatch.Action, root: Int, in schema: SQLiteSchema) {
    self.schema = schema
    rootNumber = root
    switch action {
    case .update(let assignments): ordinals = Set(assignments.map(\.ordinal))
    case .delete: ordinals = nil
    }
  }

  func isSeen(by plan: PlanPredicate) -> Bool {
    switch plan {
    case .literal: false
    case .not(let term): isSeen(by: term)
    case .and(let terms), .or(let terms): terms.contains(where: isSeen)
    case .comparison(let comparison): isSeen(by: comparison.left) || isSeen(by: comparison.right)
    }
  }

  private func isSeen(by plan: PlanExpression) -> Bool {
    switch plan {
    case .constant, .subject, .variable: false
    case .property(.subject, let property): isGathered(property)
    case .property(let base, let property): isSeen(by: base) || isGathered(property) || isRead(property, of: base)
    case .aggregate(let operands), .function(_, let operands): operands.contains(where: isSeen)
    case .collection(_, let operand), .cast(let operand, _): isSeen(by: operand)
    case .arithmetic(let left, _, let right): isSeen(by: left) || isSeen(by: right)
    case .subquery(let collection, _, let predicate): isSeen(by: collection) || isSeen(by: predicate)
    case .element(let collection, .at(let place)): isSeen(by: collection) || isSeen(by: place)
    case .element(let collection, _): isSeen(by: collection)
    case .conditional(let predicate, let first, let second):
      isSeen(by: predicate) || isSeen(by: first) || isSeen(by: second)
    }
  }

  /// Whether a property leads to many records of the table, of which some may be gone.
  private func isGathered(_ property: PlanProperty) -> Bool {
    ordinals == nil && property.isToMany && isOfTable(property.destination)
  }

  /// Whether a property is read of another record that may have got a value for it, or be gone.
  private func isRead(_ property: PlanProperty, of base: PlanExpression) -> Bool {
    isOfTable(base.reachedEntity) && ordinals?.contains(property.ordinal) != false
  }

  /// Whether the records of an entity are in the table; so it is where the entity is not known.
  private func isOfTable(_ ordinal: Int?) -> Bool {
    guard let ordinal else { return true }
    return schema.entities[ordinal]?.rootNumber == rootNumber
  }
}

extension PlanExpression {
  /// The ordinal of the entity at the end of a path; nil for what is no path.
  fileprivate var reachedEntity: Int? {
    if case .property(_, let property) = self { property.destination } else { nil }
  }
}
