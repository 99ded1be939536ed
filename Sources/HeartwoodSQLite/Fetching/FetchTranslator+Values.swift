import GRDB
import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// MARK: Expressions

extension FetchTranslator {
  /// What an expression is for a row.
  mutating func value(_ plan: PlanExpression, _ scope: QueryScope) throws(Untranslatable) -> TranslatedValue {
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

  /// What a condition on groups reads: it has no records to look at.
  private func groupValue(_ place: Int) throws(Untranslatable) -> TranslatedValue {
    if let values = groupValues, values.indices.contains(place), let value = values[place] { return value }
    throw Untranslatable()
  }

  func column(_ property: PlanProperty, of row: QueryScope) throws(Untranslatable) -> TranslatedValue {
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

  /// The kind of values that SQL compares as predicates do.
  func kind(_ type: AttributeType) throws(Untranslatable) -> TranslatedValue.Kind {
    guard let kind = TranslatedValue.Kind(type), kind != .text || schema.keepsUTF8 else { throw Untranslatable() }
    return kind
  }

  /// The row of the object that an expression gives.
  mutating func row(_ plan: PlanExpression, _ scope: QueryScope) throws(Untranslatable) -> QueryScope {
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
  /// The rows of a collection: what they are selected from, and what leads to them.
  struct Members {
    let row: QueryScope
    /// The table of pairs, where there is one, and how the rows are joined to it.
    let pairs: String?
    var conditions: [String]

    /// The text from `FROM` on.
    var text: String {
      let source = pairs.map { "\($0) \(row.allJoins.joined(separator: " "))" } ?? row.source
      return "FROM \(source) WHERE \(conditions.joined(separator: " AND "))"
    }
  }

  /// The rows that a to-many relationship leads to, or those of them that a subquery lets pass.
  mutating func members(_ plan: PlanExpression, _ scope: QueryScope) throws(Untranslatable) -> Members {
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

  private mutating func related(_ property: PlanProperty, of owner: QueryScope) throws(Untranslatable) -> Members {
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
  /// The place for a constant that is compared with values of `kind`.
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

  /// The place for the key of a record; for one of another store what no key equals, and is there all the same.
  private mutating func key(_ id: ManagedObjectID, _ root: Int) throws(Untranslatable) -> String {
    if !id.isTemporaryID, id.storeIdentifier != schema.storeIdentifier { return "''" }
    guard !id.isTemporaryID, case .integer(let key) = id.reference, let placement = schema.placement(of: id.entity),
      placement.rootNumber == root, placement.entity === id.entity
    else { throw Untranslatable() }
    return argument(key)
  }
}
