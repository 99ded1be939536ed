/// A condition that objects meet or not: what Core Data knows as `NSPredicate`.
///
/// It is a value, a tree of comparisons, and knows nothing of any store or entity: keys are names, and whether an entity has them
/// is checked when a fetch begins. Make one from a format string (``init(format:_:)``), of its cases, or of the operators `&&`,
/// `||` and `!`.
///
/// It is not called `Predicate`, because Foundation has a type of that name.
public indirect enum FetchPredicate: Sendable, Hashable {
  /// True or false for every object: `TRUEPREDICATE`, `FALSEPREDICATE`.
  case literal(Bool)
  /// Two expressions are compared.
  case comparison(FetchComparison)
  /// The condition is not met.
  case not(FetchPredicate)
  /// All conditions are met. It is true where there are none.
  case and([FetchPredicate])
  /// One condition at least is met. It is false where there are none.
  case or([FetchPredicate])
}

extension FetchPredicate {
  /// How many levels a predicate may have that is read, from a format string or an archive. The functions that read and walk one call
  /// themselves for each, and a thread may have no more than 512 KB of stack.
  package static let greatestHeight = 64

  /// Both conditions are met.
  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    if case .and(let terms) = left { return .and(terms + [right]) }
    return .and([left, right])
  }

  /// One condition is met, or both.
  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    if case .or(let terms) = left { return .or(terms + [right]) }
    return .or([left, right])
  }

  /// The condition is not met.
  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate {
    .not(predicate)
  }
}
