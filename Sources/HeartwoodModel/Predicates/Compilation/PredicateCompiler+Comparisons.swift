extension PredicateCompiler {
  mutating func compile(_ comparison: FetchComparison) throws(Fault) -> CompiledComparison {
    let left = try compile(0, comparison.left)
    let right = try compileOther(comparison.right)
    let whole = coerced(left, to: right.kind)
    let tested = (plan: whole.plan, kind: try testedKind(whole.kind, comparison))
    let other = coerced(right, to: tested.kind)
    try check(tested.kind, comparison, other.kind, other.plan)
    return CompiledComparison(
      left: tested.plan,
      comparator: comparison.comparator,
      right: other.plan,
      modifier: comparison.modifier,
      options: comparison.options,
      pattern: try pattern(comparison, other.plan)
    )
  }

  /// Compiles the right side. A single name that is no key may be text without quotation marks.
  private mutating func compileOther(_ expression: FetchExpression) throws(Fault) -> Compiled {
    do throws(Fault) {
      return try compile(1, expression)
    } catch {
      guard error.kind == .unknownKey, case .keyPath(_, let keys) = expression, keys.count == 1 else { throw error }
      throw Fault(
        kind: error.kind,
        message: error.message + " Text is written in quotation marks.",
        recovery: error.recovery,
        path: error.path
      )
    }
  }

  /// Returns the kind of the compared values: with a modifier, that of the elements of the left side.
  private func testedKind(_ left: ExpressionKind, _ comparison: FetchComparison) throws(Fault) -> ExpressionKind {
    guard comparison.modifier != .direct else { return left }
    if let element = left.element { return element }
    let advice = "Leave the word out, or use a key path with a to-many relationship."
    let message = "\(comparison.modifier.rawValue) needs a collection, and this is \(left.title). \(advice)"
    throw fault(.collection, message, at: 0)
  }

  private func pattern(_ comparison: FetchComparison, _ right: CompiledExpression) throws(Fault) -> CompiledPattern? {
    guard comparison.comparator == .like || comparison.comparator == .matches else { return nil }
    guard case .string(let text) = right.constant?.scalar else { return nil }
    let folding = TextFolding(comparison.options)
    if let pattern = CompiledPattern(text, comparison.comparator, folding: folding) { return pattern }
    throw fault(.typeMismatch, "This cannot be read as a regular expression, or is too long for one.", at: 1)
  }
}

// MARK: Checks

extension PredicateCompiler {
  private func check(
    _ left: ExpressionKind,
    _ comparison: FetchComparison,
    _ right: ExpressionKind,
    _ rightPlan: CompiledExpression
  ) throws(Fault) {
    switch comparison.comparator {
    case .equalTo, .notEqualTo:
      try checkSingle(left, comparison, right)
      guard left.goesWith(right) else { throw mismatch(left, comparison, right) }
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      try checkSingle(left, comparison, right)
      guard left.isOrdered, right.isOrdered, left.goesWith(right) else { throw mismatch(left, comparison, right) }
    case .between: try checkBounds(left, comparison, right, rightPlan)
    case .in: try checkMembership(of: left, in: right, comparison, collectionSide: 1)
    case .contains: try checkMembership(of: right, in: left, comparison, collectionSide: 0)
    case .beginsWith, .endsWith, .like, .matches:
      try checkSingle(left, comparison, right)
      guard left.isString, right.isString else { throw mismatch(left, comparison, right) }
    }
  }

  private func checkSingle(_ left: ExpressionKind, _ comparison: FetchComparison, _ right: ExpressionKind) throws(Fault)
  {
    for (side, kind) in [left, right].enumerated() where kind.element != nil {
      let advice = side == 0 ? "Put ANY, ALL or NONE before it, use CONTAINS, or count it with @count." : "Use IN."
      let message = "This is a collection, and \(comparison.comparator.rawValue) takes one value. \(advice)"
      throw fault(.collection, message, at: side)
    }
  }

  private func checkBounds(
    _ left: ExpressionKind,
    _ comparison: FetchComparison,
    _ right: ExpressionKind,
    _ plan: CompiledExpression
  ) throws(Fault) {
    guard let bound = right.element, plan.aggregateCount == 2 else {
      throw fault(.typeMismatch, "BETWEEN takes two bounds in braces, such as {1, 10}.", at: 1)
    }
    try checkSingle(left, comparison, .null)
    guard left.isOrdered, bound.isOrdered, left.goesWith(bound) else { throw mismatch(left, comparison, bound) }
  }

  private func checkMembership(
    of element: ExpressionKind,
    in collection: ExpressionKind,
    _ comparison: FetchComparison,
    collectionSide: Int
  ) throws(Fault) {
    if element.element != nil {
      throw fault(
        .collection,
        "This is a collection, and only a single value can be looked for in another one.",
        at: 1 - collectionSide
      )
    }
    if let member = collection.element {
      guard member.goesWith(element) else { throw mismatch(element, comparison, member) }
    } else if !(collection.isString && element.isString) {
      let side = collection.isString ? 1 - collectionSide : collectionSide
      let title = (collection.isString ? element : collection).title
      let rule = "\(comparison.comparator.rawValue) looks for a value in a collection, or for a string in another"
      throw fault(.typeMismatch, "\(rule), and this is \(title).", at: side)
    }
  }

  private func mismatch(_ left: ExpressionKind, _ comparison: FetchComparison, _ right: ExpressionKind) -> Fault {
    let names = "\(comparison.comparator.rawValue) does not go with \(left.title) and \(right.title)."
    let advice = Self.advice(left.element ?? left, right.element ?? right) ?? "CAST one of them."
    return fault(.typeMismatch, "\(names) Compare values of one kind, or \(advice)", at: 2)
  }

  /// Returns how to write the value for which a string was given, or a number: 2016-01-31 without quotation marks is a
  /// difference of numbers.
  private static func advice(_ left: ExpressionKind, _ right: ExpressionKind) -> String? {
    switch (left, right) {
    case (.date, let other) where other.isString || other == .number,
      (let other, .date) where other.isString || other == .number:
      return "write the date as CAST(\"2016-09-17T18:15:00Z\", \"Date\")."
    case (.uuid, let other) where other.isString, (let other, .uuid) where other.isString:
      return "write the UUID as text: E899556C-BE1A-42A3-A634-F8411915C05F."
    default: return nil
    }
  }
}

extension CompiledExpression {
  /// The number of elements in a collection that is written out.
  fileprivate var aggregateCount: Int? {
    switch self {
    case .aggregate(let elements): elements.count
    case .constant(.many(let elements)): elements.count
    default: nil
    }
  }
}

// MARK: Strings as other values

extension PredicateCompiler {
  /// Converts a string constant that is compared with UUIDs or URLs to one of them, if it is the text of one.
  private func coerced(_ compiled: Compiled, to other: ExpressionKind) -> Compiled {
    guard let value = compiled.plan.constant, let type = (other.element ?? other).spelledType else { return compiled }
    let coerced = value.coerced(to: type)
    return (.constant(coerced), ExpressionKind(coerced))
  }
}

extension ExpressionKind {
  /// The type of values that a string constant can stand for in a comparison.
  fileprivate var spelledType: AttributeType? {
    switch self {
    case .uuid: .uuid
    case .uri: .uri
    default: nil
    }
  }
}

extension EvaluatedValue {
  fileprivate func coerced(to type: AttributeType) -> EvaluatedValue {
    switch self {
    case .one(.string(let text)): PropertyValue(text: text, type: type).map(EvaluatedValue.one) ?? self
    case .one: self
    case .many(let elements): .many(elements.map { $0.coerced(to: type) })
    }
  }
}

// MARK: Composites

extension PredicateCompiler {
  /// Returns the attribute for the part of a composite attribute that `keys` begin with, such as `home.city`, and the
  /// number of these keys; nil if the first is not the name of a composite attribute.
  func part(_ keys: ArraySlice<FetchKey>, of base: Compiled) throws(Fault) -> (attributeName: String, count: Int)? {
    guard case .object(let ordinal) = base.kind.element ?? base.kind, case .property(let name)? = keys.first,
      let composite = model.entities[ordinal].compositeAttributes.first(where: { $0.name == name })
    else { return nil }
    var path: [String] = []
    for key in keys.dropFirst() {
      guard case .property(let name) = key else { break }
      path.append(name)
      if let element = composite.elements.first(where: { $0.name == path.joined(separator: ".") }) {
        return (element.attributeName, path.count + 1)
      }
    }
    throw fault(.unknownKey, Self.advice(on: composite), at: 1 + keys.startIndex)
  }

  private static func advice(on composite: CompositeAttributeDescription) -> String {
    let shown = 20
    let names = composite.elements.prefix(shown).map { "\(composite.name).\($0.name)" }.joined(separator: ", ")
    let others = composite.elements.count > shown ? " and others" : ""
    return "\(composite.name) is a composite attribute, whose parts have values: \(names)\(others)."
  }
}
