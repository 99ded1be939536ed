import HeartwoodFoundation

extension PredicateExpressions.Variable: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .expression(try conversion.variable(key))
  }
}

extension PredicateExpressions.Value: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    guard let argument = value as? any FetchArgument else {
      throw MacroConversion.unsupported("A value of type \(Output.self)")
    }
    return .expression(argument.fetchExpression)
  }
}

extension PredicateExpressions.KeyPath: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    let base = try conversion.expression(root)
    if let owner = Root.Output.self as? any KeyPathNaming.Type {
      if let name = owner.propertyName(of: keyPath) { return .expression(base.appending(.property(name))) }
      let hint = "inherited ones are known to the class that declares them"
      throw MacroConversion.unsupported("The key path \(keyPath), for which \(owner) names no property (\(hint)),")
    }
    let isString = Root.Output.self is any StringProtocol.Type
    switch kind {
    case .collectionCount where !isString: return .expression(base.appending(.collection(.count)))
    case .collectionIsEmpty where isString:
      return .predicate(.comparison(FetchComparison(base, .equalTo, .constant(.string("")))))
    case .collectionIsEmpty:
      let count = base.appending(.collection(.count))
      return .predicate(.comparison(FetchComparison(count, .equalTo, .constant(.integer(0)))))
    case .collectionFirst where !isString: return .expression(.element(of: base, .first))
    case .bidirectionalCollectionLast where !isString: return .expression(.element(of: base, .last))
    default: throw MacroConversion.unsupported("The key path \(keyPath)")
    }
  }
}

extension PredicateExpressions.CollectionIndexSubscript: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .expression(.element(of: try conversion.expression(wrapped), .at(try conversion.expression(index))))
  }
}

extension PredicateExpressions.Filter: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .expression(try conversion.subquery(sequence, variable.key, filter))
  }
}

extension PredicateExpressions.SequenceMinimum: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .expression(.function(.min, [try conversion.expression(elements)]))
  }
}

extension PredicateExpressions.SequenceMaximum: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .expression(.function(.max, [try conversion.expression(elements)]))
  }
}

// MARK: Arithmetic

extension MacroConversion {
  fileprivate mutating func arithmetic(
    _ left: Any,
    _ symbol: FetchExpression.ArithmeticOperator,
    _ right: Any
  ) throws(FetchPredicateError) -> Node {
    .expression(.arithmetic(try expression(left), symbol, try expression(right)))
  }
}

extension PredicateExpressions.Arithmetic: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    switch op {
    case .add: return try conversion.arithmetic(lhs, .add, rhs)
    case .subtract: return try conversion.arithmetic(lhs, .subtract, rhs)
    case .multiply: return try conversion.arithmetic(lhs, .multiply, rhs)
    @unknown default: throw MacroConversion.unsupported("This operator")
    }
  }
}

extension PredicateExpressions.IntDivision: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    try conversion.arithmetic(lhs, .divide, rhs)
  }
}

extension PredicateExpressions.FloatDivision: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    try conversion.arithmetic(lhs, .divide, rhs)
  }
}

extension PredicateExpressions.IntRemainder: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .expression(.function(.modulus, [try conversion.expression(lhs), try conversion.expression(rhs)]))
  }
}

extension PredicateExpressions.UnaryMinus: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .expression(.function(.negate, [try conversion.expression(wrapped)]))
  }
}
