import GRDB
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

// MARK: Expressions

extension FetchTranslator {
  /// Returns the value of an expression for a row.
  mutating func value(_ plan: CompiledExpression, _ scope: QueryScope) throws(Untranslatable) -> TranslatedValue {
    switch plan {
    case .variable(let place) where groupValues != nil: return try groupValue(place)
    case .property(let base, let property) where members[plan] == nil: return try column(property, of: row(base, scope))
    case .collection(let symbol, let operand):
      guard let function = symbol.aggregate else { throw Untranslatable() }
      return try statistic(function, operand, scope)
    case .function(let function, let operands): return try applied(function, operands, scope)
    case .cast(let operand, let type): return try cast(operand, type, scope)
    case .conditional(let predicate, let first, let second): return try conditional(predicate, first, second, scope)
    case .arithmetic: return try arithmetic(plan, scope)
    default:
      let row = try row(plan, scope)
      return TranslatedValue(text: row.key, kind: .record(root: row.placement.rootNumber))
    }
  }

  /// Returns the value that a condition on groups refers to: there are no records that it could read.
  private func groupValue(_ place: Int) throws(Untranslatable) -> TranslatedValue {
    if let values = groupValues, values.indices.contains(place), let value = values[place] { return value }
    throw Untranslatable()
  }

  func column(_ property: CompiledProperty, of row: QueryScope) throws(Untranslatable) -> TranslatedValue {
    switch row.placement.properties[property.ordinal] {
    case .attribute(let place):
      guard let type = property.attributeType else { throw Untranslatable() }
      return TranslatedValue(text: row.column(place.column), kind: try kind(type))
    case .toOne(let place):
      guard let destination = placement(property.destination) else { throw Untranslatable() }
      return TranslatedValue(text: row.column(place.column), kind: .record(root: destination.rootNumber))
    case .toMany, .join, nil: throw Untranslatable()
    }
  }

  /// Returns the kind of values that SQL compares as predicates do.
  func kind(_ type: AttributeType) throws(Untranslatable) -> TranslatedValue.Kind {
    guard let kind = TranslatedValue.Kind(type), kind != .text || schema.keepsUTF8 else { throw Untranslatable() }
    return kind
  }

  /// Returns the row of the object that an expression refers to.
  mutating func row(_ plan: CompiledExpression, _ scope: QueryScope) throws(Untranslatable) -> QueryScope {
    if let member = members[plan] { return member }
    if groupValues != nil { throw Untranslatable() }
    switch plan {
    case .subject: return scope
    case .variable(let place):
      if let row = variables[place] { return row }
    case .property(let base, let property):
      let owner = try row(base, scope)
      if case .toOne(let place) = owner.placement.properties[property.ordinal],
        let placement = placement(property.destination)
      {
        return owner.destination(property.ordinal, placement, column: place.column) { alias() }
      }
    default: break
    }
    throw Untranslatable()
  }

  private func placement(_ ordinal: Int?) -> EntityPlacement? {
    ordinal.flatMap { schema.placement(of: schema.model.entities[$0]) }
  }
}

// MARK: Collections

extension FetchTranslator {
  /// The rows of a collection: the table they are selected from, and the condition that selects them.
  struct Members {
    let row: QueryScope
    /// The table of pairs, if there is one, and how the rows are joined to it.
    let pairs: String?
    var conditions: [String]

    /// The text from `FROM` on.
    var text: String {
      let source = pairs.map { "\($0) \(row.allJoins.joined(separator: " "))" } ?? row.source
      return "FROM \(source) WHERE \(conditions.joined(separator: " AND "))"
    }
  }

  /// Returns the rows that a to-many relationship refers to, or those of them that match a subquery.
  mutating func members(_ plan: CompiledExpression, _ scope: QueryScope) throws(Untranslatable) -> Members {
    switch plan {
    case .property(let base, let property) where property.isToMany:
      return try related(property, of: row(base, scope))
    case .subquery(let collection, let variable, let predicate):
      var members = try members(collection, scope)
      let outer = variables.updateValue(members.row, forKey: variable)
      members.conditions.append(try condition(predicate, scope))
      variables[variable] = outer
      return members
    default: throw Untranslatable()
    }
  }

  private mutating func related(_ property: CompiledProperty, of owner: QueryScope) throws(Untranslatable) -> Members {
    guard let destination = placement(property.destination) else { throw Untranslatable() }
    let row = QueryScope(destination, alias: alias())
    switch owner.placement.properties[property.ordinal] {
    case .toMany(let place):
      return Members(row: row, pairs: nil, conditions: ["\(row.column(place.column)) = \(owner.key)"])
    case .join(let place) where !place.isReflexive:
      let pair = alias()
      let (own, other) = (SQLiteName.quoted(place.ownColumn), SQLiteName.quoted(place.otherColumn))
      let pairs =
        "\(SQLiteName.quoted(place.table)) AS \(pair) JOIN \(SQLiteName.quoted(destination.tableName)) AS \(row.alias)"
        + " ON \(row.key) = \(pair).\(other)"
      return Members(row: row, pairs: pairs, conditions: ["\(pair).\(own) = \(owner.key)"])
    default: throw Untranslatable()
    }
  }
}

// MARK: Constants

extension FetchTranslator {
  /// Adds a constant that is compared with values of `kind`, and returns its placeholder.
  mutating func constant(
    _ value: PropertyValue,
    _ kind: TranslatedValue.Kind,
    _ folding: TextFolding = .none
  ) throws(Untranslatable) -> String {
    switch (kind, value) {
    case (.number, .integer(let number)): return argument(number)
    case (.number, .boolean(let flag)): return argument(flag ? 1 : 0)
    case (.number, .double(let number)) where !number.isNaN: return argument(number)
    case (.number, .float(let number)) where !number.isNaN: return argument(Double(number))
    case (.date, .date(let date)) where !date.timeIntervalSinceReferenceDate.isNaN:
      return argument(date.timeIntervalSinceReferenceDate)
    case (.uuid, .uuid(let uuid)): return argument(withUnsafeBytes(of: uuid.uuid) { Data($0) })
    case (.text, .string(let text)) where schema.keepsUTF8: return self.text(text, folding)
    case (.record(let root), .toOne(let id)): return try key(id, root)
    default: throw Untranslatable()
    }
  }

  private mutating func text(_ text: String, _ folding: TextFolding) -> String {
    if !folding.isNone { return argument(Data(folding.folded(text))) }
    let stored = StoredValue.argument(text)
    if let value = stored.value { _ = argument(value) }
    return stored.place
  }

  /// Adds the key of a record, and returns its placeholder. For a record of another store, this is a value that is not
  /// NULL and equals no key.
  private mutating func key(_ id: ManagedObjectID, _ root: Int) throws(Untranslatable) -> String {
    if !id.isTemporaryID, id.storeIdentifier != schema.storeIdentifier { return "''" }
    guard !id.isTemporaryID, case .integer(let key) = id.reference, let placement = schema.placement(of: id.entity),
      placement.rootNumber == root, placement.entity === id.entity
    else { throw Untranslatable() }
    return argument(key)
  }
}

// MARK: Arithmetic

// SQLite computes as predicates do: integers stay integers and become reals if they are too large, and reals follow
// IEEE 754. Division by zero gives NULL in SQL, but infinity in predicates if one operand is a real, so reals are not
// divided here. A result that is NaN is NULL in SQL, and is not compared with `nil`.

extension FetchTranslator {
  /// The maximum number of factors: the product of so many integers is far from infinity.
  private static let greatestTermCount = 8

  /// A number in SQL, and the number of values that it is computed from.
  private struct Operand {
    let text: String
    let isInteger: Bool
    let termCount: Int
  }

  /// Returns the sum, the difference, the product or the quotient of numbers; or the interval between two dates, or a
  /// date plus or minus some seconds.
  mutating func arithmetic(_ plan: CompiledExpression, _ scope: QueryScope) throws(Untranslatable) -> TranslatedValue {
    if case .arithmetic(let left, let symbol, let right) = plan, left.isDate {
      let seconds = try "\(seconds(left, scope)) \(symbol.rawValue) \(seconds(right, scope))"
      return TranslatedValue(text: "(\(seconds))", kind: right.isDate ? .number : .date, mayBeNaN: true)
    }
    let operand = try operand(plan, scope)
    return TranslatedValue(text: operand.text, kind: .number, mayBeNaN: !operand.isInteger)
  }

  /// Returns a date, or a number of seconds, as a real: a file may contain an integer, with which SQLite would continue
  /// to compute.
  private mutating func seconds(_ plan: CompiledExpression, _ scope: QueryScope) throws(Untranslatable) -> String {
    switch plan {
    case .constant(.one(let value)): "CAST(\(try constant(value, plan.isDate ? .date : .number)) AS REAL)"
    case _ where plan.isDate: "CAST(\(try value(plan, scope).text) AS REAL)"
    default: "CAST(\(try operand(plan, scope).text) AS REAL)"
    }
  }

  private mutating func operand(_ plan: CompiledExpression, _ scope: QueryScope) throws(Untranslatable) -> Operand {
    switch plan {
    case .constant(.one(let value)): return try constantOperand(value)
    case .property(_, let property):
      let value = try value(plan, scope)
      guard case .number = value.kind, let type = property.attributeType else { throw Untranslatable() }
      return Operand(text: value.text, isInteger: type != .double && type != .float, termCount: 1)
    case .arithmetic(let left, let symbol, let right):
      let (left, right) = (try operand(left, scope), try operand(right, scope))
      return try result(left, symbol, right)
    case .function, .collection, .conditional, .cast, .variable:
      let value = try value(plan, scope)
      guard value.kind == .number else { throw Untranslatable() }
      return Operand(text: value.text, isInteger: false, termCount: 1)
    default: throw Untranslatable()
    }
  }

  private mutating func constantOperand(_ value: PropertyValue) throws(Untranslatable) -> Operand {
    let text = try constant(value, .number)
    switch value {
    case .integer, .boolean: return Operand(text: text, isInteger: true, termCount: 1)
    default: return Operand(text: text, isInteger: false, termCount: 1)
    }
  }

  private func result(
    _ left: Operand,
    _ symbol: FetchExpression.ArithmeticOperator,
    _ right: Operand
  ) throws(Untranslatable) -> Operand {
    let (isInteger, count) = (left.isInteger && right.isInteger, left.termCount + right.termCount)
    guard symbol != .power, count <= Self.greatestTermCount else { throw Untranslatable() }
    // A computed number may have become a real.
    if symbol == .divide, !isInteger || count > 2 { throw Untranslatable() }
    return Operand(text: "(\(left.text) \(symbol.rawValue) \(right.text))", isInteger: isInteger, termCount: count)
  }
}

extension CompiledExpression {
  /// Whether its value is a date.
  fileprivate var isDate: Bool {
    switch self {
    case .property(_, let property): property.attributeType == .date
    case .constant(.one(.date)): true
    case .arithmetic(let left, _, let right): left.isDate && !right.isDate
    default: false
    }
  }
}

// MARK: Functions

// Functions are registered with SQLite: they call the code that evaluates predicates in memory, so that the results are
// exactly the same.

extension FetchTranslator {
  /// Returns the result of a function for values of the same row, or for a collection.
  mutating func applied(
    _ function: FetchFunction,
    _ operands: [CompiledExpression],
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

  /// Returns a value converted to another type. The text of a number depends on its own type, which SQLite does not
  /// know in full.
  mutating func cast(
    _ operand: CompiledExpression,
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

  /// Returns one of two values, depending on a condition.
  mutating func conditional(
    _ predicate: CompiledPredicate,
    _ first: CompiledExpression,
    _ second: CompiledExpression,
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

  /// Returns a value, which may be a constant; nil for the constant `nil`, which has no kind.
  private mutating func known(
    _ plan: CompiledExpression,
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
  /// Returns the result of a function for the values of a collection's members.
  mutating func statistic(
    _ function: FetchFunction,
    _ operand: CompiledExpression,
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
    // Floating-point results depend on the order of summation, unless the function picks a value or the middle of two.
    guard isInteger || function == .median || function == .mode else { throw Untranslatable() }
    let text = "(SELECT \(SQLiteFunctions.statistic(function, value.text)) \(found.text))"
    // For an empty collection SQLite returns NULL, but a sum must be 0.
    return TranslatedValue(
      text: function == .sum ? "ifnull(\(text), 0)" : text,
      kind: .number,
      mayBeNaN: !isInteger
    )
  }

  private func isInteger(_ plan: CompiledExpression) throws(Untranslatable) -> Bool {
    guard case .property(_, let property) = plan else { throw Untranslatable() }
    switch property.attributeType {
    case .integer16, .integer32, .integer64, .boolean: return true
    case .double, .float: return false
    default: throw Untranslatable()
    }
  }
}

extension FetchFunction {
  /// Whether the result is a string and not a number.
  var makesText: Bool { self == .lowercase || self == .uppercase || self == .canonical }

  /// Whether the result may be NaN although the operand is not.
  fileprivate var mayMakeNaN: Bool {
    switch self {
    case .squareRoot, .logarithm, .naturalLogarithm, .modulus: true
    default: false
    }
  }
}
