import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

// MARK: The values of a column

extension BrowsedStore {
  /// The query for the values of a column.
  struct ValuesQuestion: Decodable, Sendable {
    let entity: String
    let condition: String?
    let text: String?
    let column: String
    /// What is computed for the records with each value, by which the values are sorted then.
    let amount: Amount?
    let limit: Int?
  }

  /// Returns the values of a column with the number of records that have each, the most frequent first, whether there
  /// are more values, and a summary. O(records that meet the condition).
  func values(_ question: ValuesQuestion) throws -> JSONValue {
    let context = readingContext()
    let entity = try coordinator.managedObjectModel.knownEntity(named: question.entity)
    let limit = min(max(1, question.limit ?? 20), Self.pageLimit)
    let amount = try question.amount?.column(of: entity)
    var request = FetchRequest<ManagedObject>(
      entityName: question.entity,
      where: try Self.predicate(question.condition, question.text, of: entity),
      sortedBy: [FetchSortDescriptor(amount == nil ? "count" : "amount", ascending: false)],
      limit: limit + 1
    )
    let column = try ExpressionDescription(format: "\(question.column) AS value")
    request.propertiesToGroupBy = [column]
    request.propertiesToFetch = [column, .count()] + (amount.map { [$0] } ?? [])
    let rows = try context.fetchRows(request)
    return .object([
      ("values", .array(rows.prefix(limit).map { Self.group($0, ["value", "count", "amount"], in: context) })),
      ("hasMore", .boolean(rows.count > limit)),
      ("summary", try summary(of: entity.property(named: question.column), request, in: context)),
    ])
  }

  /// Returns the values of a row, which has no amount if none was asked for.
  static func group(_ row: FetchRow, _ names: [String], in context: ManagedObjectContext) -> JSONValue {
    .object(zip(names, row.values).map { ($0, CellText(value: $1, in: context).short) })
  }

  /// Returns how many records have a value in a column, the least and the greatest value, and the sum and the average
  /// of numbers.
  private func summary(
    of property: PropertyDescription?,
    _ request: FetchRequest<ManagedObject>,
    in context: ManagedObjectContext
  ) throws -> JSONValue {
    guard let attribute = property?.attribute, let aggregates = Self.aggregates[attribute.type] else {
      return .object([])
    }
    var request = request
    (request.sortDescriptors, request.fetchLimit, request.propertiesToGroupBy) = ([], nil, [])
    request.propertiesToFetch = try aggregates.map {
      try ExpressionDescription(format: "\($0.function)(\(attribute.name)) AS \($0.name)")
    }
    guard let row = try context.fetchRows(request).first else { return .object([]) }
    return .object(aggregates.indices.map { (aggregates[$0].name, CellText(value: row[$0], in: context).short) })
  }

  private static let aggregates: [AttributeType: [(name: String, function: String)]] = {
    let ordered = [("filled", "count"), ("least", "min"), ("greatest", "max")]
    let numeric = ordered + [("sum", "sum"), ("average", "average")]
    let numbers = AttributeType.allCases.filter(\.isNumber)
    return Dictionary(uniqueKeysWithValues: numbers.map { ($0, numeric) } + [.string, .date].map { ($0, ordered) })
  }()
}

// MARK: Amount

/// What is computed for each group of records, besides their number: a function of a column of numbers.
struct Amount: Decodable, Sendable {
  enum Function: String, Decodable, Sendable {
    case sum, average, min, max
  }

  let function: Function
  /// The name of an attribute.
  let column: String

  /// - Throws: `BrowserError.malformed` if the column has no numbers.
  func column(of entity: EntityDescription) throws -> ExpressionDescription {
    guard let attribute = entity.property(named: column)?.attribute, !attribute.isTransient, attribute.type.isNumber
    else { throw BrowserError.malformed("“\(column)” is no attribute of numbers that a store keeps.") }
    return switch function {
    case .sum: .sum(of: column, as: "amount")
    case .average: .average(of: column, as: "amount")
    case .min: .minimum(of: column, as: "amount")
    case .max: .maximum(of: column, as: "amount")
    }
  }
}
