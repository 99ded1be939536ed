import HeartwoodModel

/// An expression that leads over a relationship of the tested object, taken apart.
struct RelatedExpression {
  /// The relationship.
  let relationship: PlanProperty
  /// What is evaluated for the objects that it leads to.
  let inner: PlanExpression
  /// What is evaluated where it leads nowhere.
  let missing: PlanValue
}

extension PlanExpression {
  /// The expression taken apart behind the first relationship; nil where it is not of that kind.
  var related: RelatedExpression? {
    switch self {
    case .property(of: .property(of: .subject, let relationship), let property) where relationship.destination != nil:
      return RelatedExpression(
        relationship: relationship,
        inner: .property(of: .subject, property),
        missing: property.isToMany ? .many([]) : .null
      )
    case .property(let base, let property):
      guard let related = base.related else { return nil }
      return RelatedExpression(
        relationship: related.relationship,
        inner: .property(of: related.inner, property),
        missing: property.isToMany || related.missing == .many([]) ? .many([]) : .null
      )
    case .collection(.count, let operand):
      // The count of what several objects lead to is not made of their own counts.
      guard let related = operand.related, !related.relationship.isToMany, related.missing == .many([]) else {
        return nil
      }
      return RelatedExpression(
        relationship: related.relationship,
        inner: .collection(.count, related.inner),
        missing: .one(.integer(0))
      )
    default: return nil
    }
  }
}
