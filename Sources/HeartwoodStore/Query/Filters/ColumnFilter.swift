import HeartwoodFoundation
import HeartwoodModel

/// A condition in a form that can be tested on columns: made once for a table, applied to each of its groups.
indirect enum ColumnFilter: Sendable {
  case literal(Bool)
  case not(ColumnFilter)
  /// The terms, the cheapest first.
  case and([ColumnFilter])
  case or([ColumnFilter])
  /// The property has no value.
  case isNull(Int)
  case integers(Int, NumberRange.Integers)
  case integerSet(Int, Set<Int64>)
  case doubles(Int, NumberRange.Doubles)
  case decimals(Int, DecimalRange)
  /// Whether a boolean passes if it is true and if it is false; `nil` does not pass.
  case boolean(Int, whenTrue: Bool, whenFalse: Bool)
  case text(Int, TextFilter)
  case reference(Int, ReferenceFilter)
  case uuids(Int, Set<ReferenceID>)
  /// The number of objects of a to-many relationship.
  case count(Int, NumberRange.Integers)
  /// The destinations of a relationship, which have been tested before.
  case related(Int, RelatedFilter)
  /// One of these rows of the table.
  case rows(Set<RowID>)
  /// A condition that has no faster form.
  case general(CompiledPredicate)
  /// A test for which an index is used.
  case indexed(IndexAccess, ColumnFilter)
}

extension ColumnFilter {
  /// The approximate cost of a row in nanoseconds.
  var cost: Double {
    switch self {
    case .literal: 0
    // An index leaves few rows for the other terms.
    case .indexed: 0.05
    case .not(let term): term.cost
    case .and(let terms), .or(let terms): terms.reduce(0) { $0 + $1.cost }
    case .isNull, .boolean: 0.1
    case .integers, .doubles, .count: 1
    case .integerSet, .reference, .uuids, .rows, .decimals: 10
    case .text(_, let test): test.cost
    case .related: 60
    case .general: 500
    }
  }

  /// Returns the conjunction of `terms`, the cheapest first, with constants and single terms resolved.
  static func all(_ terms: [ColumnFilter]) -> ColumnFilter {
    var kept: [ColumnFilter] = []
    for term in terms {
      if case .literal(let flag) = term {
        if flag { continue }
        return .literal(false)
      }
      kept.append(term)
    }
    if kept.isEmpty { return .literal(true) }
    return kept.count == 1 ? kept[0] : .and(kept.sorted { $0.cost < $1.cost })
  }

  /// Returns the disjunction of `terms`, the cheapest first, with constants and single terms resolved.
  static func any(_ terms: [ColumnFilter]) -> ColumnFilter {
    // By De Morgan: any of the terms is the negation of all negated terms.
    switch all(terms.map(negated)) {
    case .and(let terms): .or(terms.map(negated))
    case let single: negated(single)
    }
  }

  static func negated(_ test: ColumnFilter) -> ColumnFilter {
    switch test {
    case .literal(let flag): .literal(!flag)
    case .not(let term): term
    default: .not(test)
    }
  }
}

// MARK: Description

extension ColumnFilter {
  /// Returns a description of the test, without the values.
  func description(for entity: EntityDescription) -> String {
    func name(_ ordinal: Int) -> String { entity.properties[ordinal].name }
    switch self {
    case .literal(let flag): return flag ? "nothing" : "nothing: no record can pass"
    case .not(let term): return "not (\(term.description(for: entity)))"
    case .and(let terms): return Self.joined(terms, " and then ", entity)
    case .or(let terms): return Self.joined(terms, " or else ", entity)
    case .isNull(let ordinal): return "whether \(name(ordinal)) has a value"
    case .integers(let ordinal, _), .integerSet(let ordinal, _), .doubles(let ordinal, _), .boolean(let ordinal, _, _):
      return "the column \(name(ordinal))"
    case .uuids(let ordinal, _), .decimals(let ordinal, _): return "the column \(name(ordinal))"
    case .text(let ordinal, _): return "the text of \(name(ordinal))"
    case .reference(let ordinal, _): return "where \(name(ordinal)) leads"
    case .related(let ordinal, _): return "the objects to which \(name(ordinal)) refers"
    case .count(let ordinal, _): return "the count of \(name(ordinal))"
    case .rows: return "given objects"
    case .indexed(_, let test): return test.description(for: entity)
    case .general: return "an expression, record by record"
    }
  }

  private static func joined(_ terms: [ColumnFilter], _ separator: String, _ entity: EntityDescription) -> String {
    "(" + terms.map { $0.description(for: entity) }.joined(separator: separator) + ")"
  }
}

// MARK: ReferenceFilter

/// The objects of which a to-one relationship must refer to one.
struct ReferenceFilter: Sendable {
  /// The references by the ordinal of their entities.
  let references: [Int: Set<ReferenceID>]

  /// - Parameter ids: the ids of the objects. Those of other stores are left out, because no relationship refers to
  ///   them.
  init(_ ids: [ManagedObjectID], in tables: QueryTables) {
    var references: [Int: Set<ReferenceID>] = [:]
    for id in ids {
      let place = tables.scopes.firstIndex {
        $0.storeIdentifier == id.storeIdentifier && $0.entity.name == id.entity.name
      }
      if let place { references[place, default: []].insert(id.reference) }
    }
    self.references = references
  }

  /// The number of objects.
  var count: Int { references.values.reduce(0) { $0 + $1.count } }

  /// Returns the places, in the order of a column, of the rows that refer to one of the objects.
  func places(in order: OrderedRows, _ column: RecordColumn) -> [Range<Int>] {
    guard let targets = column.references else { return [] }
    return references.flatMap { ordinal, names in
      names.compactMap { name in
        targets.nameBytes(of: name).map { bytes in
          func compare(_ row: Int) -> Int {
            let difference = ByteOrder.compare(targets.unsafeName(row), bytes)
            return difference != 0 ? difference : targets.entityOrdinal(row) - ordinal
          }
          return order.places({ compare($0) < 0 }, { compare($0) > 0 })
        }
      }
    }
  }

  /// Keeps the rows that refer to one of the objects.
  func apply(to rows: inout RowBitmap, _ column: RecordColumn) {
    guard let targets = column.references, !references.isEmpty else { return rows.removeAll() }
    if case .same(let ordinal) = targets.entities {
      guard let names = references[Int(ordinal)] else { return rows.removeAll() }
      if names.count == 1, let name = names.first { return apply(name, to: &rows, column, targets) }
    }
    rows.filter { row in
      guard column.validity?[row] ?? true, let names = references[targets.entityOrdinal(row)] else { return false }
      return names.contains(targets[row])
    }
  }

  /// Tests for one reference of one entity, without creating a reference for each row.
  private func apply(_ name: ReferenceID, to rows: inout RowBitmap, _ column: RecordColumn, _ targets: ReferenceColumn)
  {
    let bytes = targets.values.unsafeBase
    switch (name, targets.layout) {
    case (.integer(let number), .integer):
      rows.filter { row in
        (column.validity?[row] ?? true) && bytes.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self) == number
      }
    case (.uuid(let uuid), .uuid):
      let wanted = withUnsafeBytes(of: uuid.uuid) { $0.loadUnaligned(as: UInt128.self) }
      rows.filter { row in
        (column.validity?[row] ?? true) && bytes.loadUnaligned(fromByteOffset: row &* 16, as: UInt128.self) == wanted
      }
    default: rows.filter { row in (column.validity?[row] ?? true) && targets[row] == name }
    }
  }
}
