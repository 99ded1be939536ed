import HeartwoodModel

// Functions are taught to SQLite: they call what evaluates predicates in memory, so that they give just the same.

extension FetchTranslator {
  /// What a function makes of values of the same row, or of a collection.
  mutating func applied(
    _ function: FetchFunction,
    _ operands: [PlanExpression],
    _ scope: QueryScope
  ) throws(Untranslatable) -> TranslatedValue {
    if function.takesCollection, let collection = operands.first { return try statistic(function, collection, scope) }
    guard SQLiteFunctions.computed.contains(function) else { throw Untranslatable() }
    var values: [TranslatedValue?] = []
    for operand in operands {
      let value = try known(operand, scope)
      guard value == nil || value?.kind == (function.takesString ? .text : .number) else { throw Untranslatable() }
      values.append(value)
    }
    return TranslatedValue(
      text: SQLiteFunctions.applied(function, values.map { $0?.text ?? "NULL" }),
      kind: function.makesText ? .text : .number,
      mayBeNaN: function.mayMakeNaN || values.contains { $0?.mayBeNaN ?? false }
    )
  }

  /// A value as one of another type. To which text a number leads depends on its own type, which SQLite does not know in full.
  mutating func cast(
    _ operand: PlanExpression,
    _ type: FetchExpression.CastType,
    _ scope: QueryScope
  ) throws(Untranslatable) -> TranslatedValue {
    let value = try value(operand, scope)
    let kind = try kind(type.attributeType)
    switch (value.kind, kind) {
    case (.text, _), (.number, .number), (.number, .date), (.date, .number), (.date, .date): break
    default: throw Untranslatable()
    }
    let isReal = type == .double || type == .float || type == .date
    return TranslatedValue(
      text: SQLiteFunctions.cast(value, to: type),
      kind: kind,
      mayBeNaN: isReal && (value.mayBeNaN || value.kind == .text)
    )
  }

  /// One of two values.
  mutating func conditional(
    _ predicate: PlanPredicate,
    _ first: PlanExpression,
    _ second: PlanExpression,
    _ scope: QueryScope
  ) throws(Untranslatable) -> TranslatedValue {
    let condition = try condition(predicate, scope)
    let (one, other) = (try known(first, scope), try known(second, scope))
    guard let kind = one?.kind ?? other?.kind, one == nil || other == nil || one?.kind == other?.kind else {
      throw Untranslatable()
    }
    return TranslatedValue(
      text: "CASE WHEN \(condition) THEN \(one?.text ?? "NULL") ELSE \(other?.text ?? "NULL") END",
      kind: kind,
      mayBeNaN: one?.mayBeNaN ?? false || other?.mayBeNaN ?? false
    )
  }

  /// A value, which may be a constant; nil for the constant `nil`, which is of no kind.
  private mutating func known(
    _ plan: PlanExpression,
    _ scope: QueryScope
  ) throws(Untranslatable) -> TranslatedValue? {
    guard case .constant(let constant) = plan else { return try value(plan, scope) }
    let kind: TranslatedValue.Kind
    switch constant {
    case .one(.null): return nil
    case .one(.integer), .one(.boolean), .one(.double), .one(.float): kind = .number
    case .one(.string): kind = .text
    case .one(.date): kind = .date
    case .one(.uuid): kind = .uuid
    case .one, .many: throw Untranslatable()
    }
    return TranslatedValue(text: try self.constant(constant.scalar, kind), kind: kind)
  }
}

// MARK: Collections

extension FetchTranslator {
  /// What a function makes of the values of a collection's members.
  mutating func statistic(
    _ function: FetchFunction,
    _ operand: PlanExpression,
    _ scope: QueryScope
  ) throws(Untranslatable) -> TranslatedValue {
    guard let collection = operand.collection else { throw Untranslatable() }
    let found = try members(collection, scope)
    if function == .count { return TranslatedValue(text: "(SELECT count(*) \(found.text))", kind: .number) }
    let outer = members.updateValue(found.row, forKey: collection)
    let value = try value(operand, scope)
    members[collection] = outer
    if case .record = value.kind { throw Untranslatable() }
    if function == .min || function == .max, !value.mayBeNaN {
      let name = function == .min ? "min" : "max"
      return TranslatedValue(text: "(SELECT \(name)(\(value.text)) \(found.text))", kind: value.kind)
    }
    let isInteger = try isInteger(operand)
    // Floating-point results depend on the order of summation, except where the function picks a value or the middle of two.
    guard isInteger || function == .median || function == .mode else { throw Untranslatable() }
    let text = "(SELECT \(SQLiteFunctions.statistic(function, value.text)) \(found.text))"
    // For an empty collection SQLite would give NULL, which must be 0 for a sum.
    return TranslatedValue(
      text: function == .sum ? "ifnull(\(text), 0)" : text,
      kind: .number,
      mayBeNaN: !isInteger
    )
  }

  private func isInteger(_ plan: PlanExpression) throws(Untranslatable) -> Bool {
    guard case .property(_, let property) = plan else { throw Untranslatable() }
    switch property.attributeType {
    case .integer16, .integer32, .integer64, .boolean: return true
    case .double, .float: return false
    default: throw Untranslatable()
    }
  }
}

extension FetchFunction {
  /// Whether it makes a string and not a number.
  var makesText: Bool { self == .lowercase || self == .uppercase || self == .canonical }

  /// Whether it makes what is no number of what is one.
  fileprivate var mayMakeNaN: Bool {
    switch self {
    case .squareRoot, .logarithm, .naturalLogarithm, .modulus: true
    default: false
    }
  }
}
