import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Finds values that the format cannot hold.
struct CSVContentsCheck: Sendable {
  private static let longestLineEnd = 2

  let schema: CSVSchema
  var maximumRecordLength = CSVFormat.maximumRecordLength

  /// - Throws: ``PersistenceError/Code/valueUnsupported``.
  func check(_ table: NodeTable) throws {
    _ = try Parallel.tryMap(table.groups.count) { try check(table.groups[$0]) }
  }

  /// The fault of a value, and its recovery.
  private typealias Fault = (problem: String, recovery: PersistenceError.Recovery?)

  private func check(_ group: RowGroup) throws {
    for column in schema.columns {
      let fault: Fault?
      switch column.content {
      case .attribute(let ordinal, .date): fault = dateFault(group, group.unsafeViews[ordinal])
      case .attribute(let ordinal, .uri): fault = uriFault(group, group.unsafeViews[ordinal])
      case .attribute(let ordinal, .decimal): fault = decimalFault(group, group.unsafeViews[ordinal])
      case .relationship(let ordinal, _): fault = targetFault(group.columns[ordinal])
      case .reference, .ignored, .attribute: fault = nil
      }
      guard let fault else { continue }
      throw PersistenceError(
        .valueUnsupported,
        fault.problem,
        recovery: fault.recovery,
        context: .init(storeType: .csv, entity: schema.entity.name, property: column.property)
      )
    }
    try checkLengths(group)
  }

  /// Refuses records whose line would be longer than can be read.
  private func checkLengths(_ group: RowGroup) throws {
    // The text of a value is not eight times as long as its bytes, except for values of a few bytes.
    guard group.valueByteCount > maximumRecordLength / 8 else { return }
    var dialect = CSVDialect(schema.layout.dialect)
    dialect.quoting = .all
    var formatter = CSVRowFormatter(group: group, schema: schema, dialect: dialect)
    var buffer = TextBuffer(capacity: group.valueByteCount / group.rowCount)
    for row in group.liveRuns.joined() {
      buffer.removeAll()
      formatter.appendRow(row, kept: [:], to: &buffer)
      guard buffer.count + Self.longestLineEnd > maximumRecordLength else { continue }
      throw PersistenceError(
        .valueUnsupported,
        "The values of a record take more than the \(maximumRecordLength) bytes that a line may have.",
        recovery: .chooseAnotherType,
        context: .init(storeType: .csv, entity: schema.entity.name)
      )
    }
  }

  private func dateFault(_ group: RowGroup, _ view: ColumnView) -> Fault? {
    let range = DateText.representable
    for row in 0..<group.rowCount where group.isLive(row) && !view.unsafeIsNull(row) {
      if !range.contains(view.unsafeDouble(row)) {
        let advice = "Change the date, or choose another type of store."
        return ("A CSV file holds dates of the years 1 to 9999 only.", .custom(advice))
      }
    }
    return nil
  }

  private func uriFault(_ group: RowGroup, _ view: ColumnView) -> Fault? {
    for row in 0..<group.rowCount where group.isLive(row) && !view.unsafeIsNull(row) {
      let text = view.unsafeString(row)
      if URL(string: text)?.absoluteString != text {
        return ("The URI cannot be read back from its text.", "Change it.")
      }
    }
    return nil
  }

  private func decimalFault(_ group: RowGroup, _ view: ColumnView) -> Fault? {
    DecimalTextCheck.isReadable(group, view) ? nil : (DecimalTextCheck.reason, DecimalTextCheck.recovery)
  }

  private func targetFault(_ column: RecordColumn) -> Fault? {
    guard let references = column.references else { return nil }
    let own = schema.entity.ordinal
    let isOther = (0..<references.count).contains { index in
      let isPlaceholder = column.kind == .toOne && !(column.validity?[index] ?? true)
      return !isPlaceholder && references.entityOrdinal(index) != own
    }
    guard isOther else { return nil }
    let problem =
      "The relationship refers to a record of another entity than \(schema.entity.name), which the file does not keep."
    return (problem, nil)
  }
}
