import HeartwoodModel

extension ColumnTest {
  /// What is tested, without the values.
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
    case .related(let ordinal, _): return "the objects that \(name(ordinal)) leads to"
    case .count(let ordinal, _): return "the count of \(name(ordinal))"
    case .rows: return "given objects"
    case .indexed(_, let test): return test.description(for: entity)
    case .general: return "an expression, record by record"
    }
  }

  private static func joined(_ terms: [ColumnTest], _ separator: String, _ entity: EntityDescription) -> String {
    "(" + terms.map { $0.description(for: entity) }.joined(separator: separator) + ")"
  }
}
