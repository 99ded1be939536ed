import HeartwoodModel

extension FetchTranslator {
  /// The maximum number of values that are passed for one condition.
  static let greatestElementCount = 10_000

  /// Returns the condition that a row is a record of the scope's entity and meets a condition. If stray rows are to be
  /// found, it includes rows of no entity in a table of one entity: reading them reports the fault.
  mutating func condition(_ plan: CompiledPredicate?, ofRecordsIn scope: QueryScope) throws(Untranslatable) -> String {
    let isAlone = schema.isAlone(scope.placement)
    var isOfEntity = "\(scope.alias).Z_ENT = \(scope.placement.number)"
    if isAlone { isOfEntity = strays.condition(isOfEntity, schema, alias: scope.alias) }
    guard let plan else { return isOfEntity }
    guard plan.isOfFitSize else { throw Untranslatable() }
    let condition = try condition(plan, scope)
    // SQLite tests from left to right: the condition that most rows fail comes first, and in a table of one entity all
    // rows belong to it.
    return isAlone ? "\(condition) AND \(isOfEntity)" : "\(isOfEntity) AND \(condition)"
  }

  /// Returns a condition in SQL.
  ///
  /// - Parameter isExact: whether the condition has to be false if it is not true; otherwise it may be unknown.
  mutating func condition(
    _ plan: CompiledPredicate,
    _ scope: QueryScope,
    isExact: Bool = false
  ) throws(Untranslatable) -> String {
    switch plan {
    case .literal(let flag): return flag ? "1" : "0"
    case .not(let term): return "NOT \(try condition(term, scope, isExact: true))"
    case .and(let terms): return try joined(terms, " AND ", scope, isExact)
    case .or(let terms): return try joined(terms, " OR ", scope, isExact)
    case .comparison(let comparison): return try condition(comparison, scope, isExact)
    }
  }

  private mutating func joined(
    _ terms: [CompiledPredicate],
    _ separator: String,
    _ scope: QueryScope,
    _ isExact: Bool
  ) throws(Untranslatable) -> String {
    var texts: [String] = []
    for term in terms { texts.append(try condition(term, scope, isExact: isExact)) }
    if texts.isEmpty { return separator == " AND " ? "1" : "0" }
    return Self.grouped(texts, separator)
  }

  /// Joins a list to an expression whose height is less than the length of the list.
  private static func grouped(_ texts: [String], _ separator: String) -> String {
    let size = StatementSize.termsInGroup
    guard texts.count > size else { return "(\(texts.joined(separator: separator)))" }
    let groups = stride(from: 0, to: texts.count, by: size).map { start in
      "(\(texts[start..<min(start + size, texts.count)].joined(separator: separator)))"
    }
    return "(\(groups.joined(separator: separator)))"
  }
}

// MARK: Comparisons

extension FetchTranslator {
  private mutating func condition(
    _ plan: CompiledComparison,
    _ scope: QueryScope,
    _ isExact: Bool
  ) throws(Untranslatable) -> String {
    guard plan.modifier == .direct else { return try quantified(plan, scope) }
    if plan.comparator == .contains, case .property(_, let property) = plan.left, property.isToMany {
      // A collection contains a value if one of its members equals the value.
      return try quantified(plan.replacing(comparator: .equalTo, modifier: .any), scope)
    }
    return try direct(plan, scope, isExact)
  }

  /// Returns a comparison of one value.
  private mutating func direct(
    _ plan: CompiledComparison,
    _ scope: QueryScope,
    _ isExact: Bool
  ) throws(Untranslatable) -> String {
    guard let right = plan.right.constant else {
      // `5 < age` is tested as `age > 5`.
      if plan.left.constant != nil, let mirrored = plan.mirrored { return try direct(mirrored, scope, isExact) }
      return try columns(plan, scope, isExact)
    }
    let left = try value(plan.left, scope)
    if left.mayBeNaN, right.namesNothing { throw Untranslatable() }
    let text = try compared(left, plan, right)
    let isNeverUnknown = plan.comparator == .equalTo || plan.comparator == .notEqualTo
    return isExact && !isNeverUnknown ? "ifnull(\(text), 0)" : text
  }

  private mutating func compared(
    _ left: TranslatedValue,
    _ plan: CompiledComparison,
    _ right: EvaluatedValue
  ) throws(Untranslatable) -> String {
    let folding = try folding(plan, left)
    let value = folding.isNone ? left.text : SQLiteFunctions.folded(left.text, folding)
    switch (plan.comparator, right) {
    case (.equalTo, .one(.null)): return "\(value) IS NULL"
    case (.notEqualTo, .one(.null)): return "\(value) IS NOT NULL"
    case (.equalTo, .one(let constant)): return "\(value) IS \(try self.constant(constant, left.kind, folding))"
    case (.notEqualTo, .one(let constant)): return "\(value) IS NOT \(try self.constant(constant, left.kind, folding))"
    case (.lessThan, .one(let constant)), (.lessThanOrEqualTo, .one(let constant)),
      (.greaterThan, .one(let constant)), (.greaterThanOrEqualTo, .one(let constant)):
      try checkOrdered(left.kind)
      return "\(value) \(plan.comparator.rawValue) \(try self.constant(constant, left.kind, folding))"
    case (.between, .many(let bounds)) where bounds.count == 2:
      try checkOrdered(left.kind)
      let lower = try self.constant(bounds[0].scalar, left.kind, folding)
      let upper = try self.constant(bounds[1].scalar, left.kind, folding)
      return "\(value) BETWEEN \(lower) AND \(upper)"
    case (.in, .many(let elements)): return try isOne(of: elements, value, left.kind, folding)
    case (_, .one(.string(let part))): return try matched(left, value, plan, part, folding)
    default: throw Untranslatable()
    }
  }

  /// Returns the folding that is applied to strings before they are compared.
  private func folding(_ plan: CompiledComparison, _ left: TranslatedValue) throws(Untranslatable) -> TextFolding {
    guard case .text = left.kind else { return .none }
    let isOrder = [.lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between].contains(
      plan.comparator
    )
    if isOrder, plan.options.contains(.localeSensitive) { throw Untranslatable() }
    return TextFolding(plan.options)
  }

  private func checkOrdered(_ kind: TranslatedValue.Kind) throws(Untranslatable) {
    if case .record = kind { throw Untranslatable() }
  }

  private mutating func isOne(
    of elements: [EvaluatedValue],
    _ value: String,
    _ kind: TranslatedValue.Kind,
    _ folding: TextFolding
  ) throws(Untranslatable) -> String {
    guard elements.count <= Self.greatestElementCount else { throw Untranslatable() }
    var places: [String] = []
    for element in elements where !element.scalar.isNull { places.append(try constant(element.scalar, kind, folding)) }
    // An expression with its own arguments cannot be written twice.
    if places.count < elements.count, value.contains("?") { throw Untranslatable() }
    let isIn = "\(value) IN (\(places.joined(separator: ", ")))"
    return places.count < elements.count ? "(\(isIn) OR \(value) IS NULL)" : isIn
  }

  /// Returns a comparison of two expressions of the same row.
  private mutating func columns(
    _ plan: CompiledComparison,
    _ scope: QueryScope,
    _ isExact: Bool
  ) throws(Untranslatable) -> String {
    let left = try value(plan.left, scope)
    let right = try valueBesideMembers(plan.right, scope)
    let isEquality = plan.comparator == .equalTo || plan.comparator == .notEqualTo
    if isEquality, left.mayBeNaN || right.mayBeNaN { throw Untranslatable() }
    switch (left.kind, right.kind) {
    case (.number, .number), (.date, .date), (.uuid, .uuid): break
    case (.text, .text) where TextFolding(plan.options).isNone && !plan.options.contains(.localeSensitive): break
    case (.record(let a), .record(let b)) where a == b: break
    default: throw Untranslatable()
    }
    switch plan.comparator {
    case .equalTo: return "\(left.text) IS \(right.text)"
    case .notEqualTo: return "\(left.text) IS NOT \(right.text)"
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      try checkOrdered(left.kind)
      let text = "\(left.text) \(plan.comparator.rawValue) \(right.text)"
      return isExact ? "ifnull(\(text), 0)" : text
    default: throw Untranslatable()
    }
  }
}

// MARK: Text

extension FetchTranslator {
  /// - Parameter value: the folded left side.
  private mutating func matched(
    _ left: TranslatedValue,
    _ value: String,
    _ plan: CompiledComparison,
    _ part: String,
    _ folding: TextFolding
  ) throws(Untranslatable) -> String {
    guard case .text = left.kind else { throw Untranslatable() }
    let length = folding.folded(part).count
    switch plan.comparator {
    case .contains: return "instr(\(value), \(try constant(.string(part), left.kind, folding))) > 0"
    case .beginsWith where length > 0, .endsWith where length > 0:
      let bytes = "CAST(\(try constant(.string(part), left.kind, folding)) AS BLOB)"
      let range = plan.comparator == .beginsWith ? "1, \(length)" : "-\(length)"
      return "substr(CAST(\(value) AS BLOB), \(range)) = \(bytes)"
    // For zero bytes, substr returns an empty value.
    case .beginsWith, .endsWith: return "\(value) IS NOT NULL"
    case .like, .matches:
      let pattern = try constant(.string(part), .text)
      return SQLiteFunctions.matches(left.text, pattern, plan.comparator, folding)
    default: throw Untranslatable()
    }
  }
}

// MARK: Collections

extension FetchTranslator {
  /// Returns a comparison of the members of a collection.
  private mutating func quantified(_ plan: CompiledComparison, _ scope: QueryScope) throws(Untranslatable) -> String {
    guard let collection = plan.left.collection else { throw Untranslatable() }
    var found = try members(collection, scope)
    let outer = members.updateValue(found.row, forKey: collection)
    let isAll = plan.modifier == .all
    let text = try condition(.comparison(plan.replacing(modifier: .direct)), scope, isExact: isAll)
    members[collection] = outer
    found.conditions.append(isAll ? "NOT \(text)" : text)
    return "\(plan.modifier == .any ? "" : "NOT ")EXISTS (SELECT 1 \(found.text))"
  }

  /// Returns the value that the members of a collection are compared with: within it, the collection stands for all
  /// members.
  private mutating func valueBesideMembers(
    _ plan: CompiledExpression,
    _ scope: QueryScope
  ) throws(Untranslatable) -> TranslatedValue {
    let outer = members
    members = [:]
    let value = try value(plan, scope)
    members = outer
    return value
  }
}

extension EvaluatedValue {
  /// Whether it is `nil`, or has an element that is `nil`.
  fileprivate var namesNothing: Bool {
    switch self {
    case .one(let value): value.isNull
    case .many(let elements): elements.contains { $0.scalar.isNull }
    }
  }
}

extension CompiledExpression {
  /// The to-many relationship, or the subquery, whose members the expression refers to.
  var collection: CompiledExpression? {
    switch self {
    case .property(_, let property) where property.isToMany: self
    case .property(let base, _): base.collection
    case .subquery: self
    default: nil
    }
  }
}
