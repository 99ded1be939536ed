import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The numbers of the objects that all records share.
struct PropertyListSharedObjects: Sendable {
  var falseNumber = 0
  var trueNumber = 0
  var referenceKey = 0
  var entityKey = 0
  /// The names of entities, by ordinal.
  var entityNames: [Int] = []
  /// The names of properties.
  var properties: [String: Int] = [:]
}

/// Writes rows of one group as objects of a binary property list.
///
/// It reads the group's columns through their views: it holds the group, and the rows must be the group's.
struct BinaryPropertyListFormatter {
  /// A property to write. The key is the number of its name.
  private typealias Cell = PropertyListCell<Int>

  private let group: RowGroup
  private let shared: PropertyListSharedObjects
  private let cells: [Cell]

  init(group: RowGroup, entity: PropertyListSchema.Entity, shared: PropertyListSharedObjects) {
    self.group = group
    self.shared = shared
    cells = entity.properties.map { Cell($0, of: group, key: shared.properties[$0.name] ?? 0) }
  }

  // MARK: Counting

  /// Returns the number of objects for the rows. O(rows × properties).
  func objectCount(_ rows: Range<Int>) -> Int {
    // A dictionary and a reference each.
    cells.reduce(rows.count * 2) { $0 + objectCount($1, rows) }
  }

  private func objectCount(_ cell: Cell, _ rows: Range<Int>) -> Int {
    switch cell.content {
    case .attribute(.boolean): 0
    case .attribute: cell.column.validity == nil ? rows.count : rows.count { !cell.view.unsafeIsNull($0) }
    case .toOne(let destination):
      rows.reduce(0) { count, row in
        leadsNowhere(cell.column, row) ? count : count + objectCount(row..<(row + 1), of: cell.column, destination)
      }
    case .toMany(let destination):
      rows.reduce(0) { count, row in
        let range = cell.column.range(row)
        return range.isEmpty ? count : count + 1 + objectCount(range, of: cell.column, destination)
      }
    }
  }

  private func leadsNowhere(_ column: RecordColumn, _ row: Int) -> Bool { column.validity?[row] == false }

  private func objectCount(_ range: Range<Int>, of column: RecordColumn, _ destination: Int) -> Int {
    guard let references = column.references else { return 0 }
    if case .same(let ordinal) = references.entities, Int(ordinal) == destination { return range.count }
    return range.reduce(0) { $0 + (references.entityOrdinal($1) == destination ? 1 : 2) }
  }

  // MARK: Writing

  func append(_ rows: Range<Int>, to buffer: inout PropertyListObjectBuffer) {
    var members: [(key: Int, value: Int)] = []
    members.reserveCapacity(cells.count + 1)
    for row in rows {
      members.removeAll(keepingCapacity: true)
      members.append((shared.referenceKey, appendReference(row, of: group.references, to: &buffer)))
      for index in cells.indices {
        if let number = append(cells[index], row, to: &buffer) { members.append((cells[index].key, number)) }
      }
      buffer.noteRecord()
      _ = buffer.append(dictionary: members)
    }
  }

  @inline(__always)
  private func appendReference(_ index: Int, of references: ReferenceColumn, to buffer: inout PropertyListObjectBuffer)
    -> Int
  {
    references.layout == .uuid
      ? buffer.append(uuid: references.uuidBytes(index)) : buffer.append(reference: references[index])
  }

  /// Appends the value and returns the number of its object, or nil if there is no value.
  @inline(__always)
  private func append(_ cell: Cell, _ row: Int, to buffer: inout PropertyListObjectBuffer) -> Int? {
    switch cell.content {
    case .attribute(let type): cell.view.unsafeIsNull(row) ? nil : append(type, cell.view, row, to: &buffer)
    case .toOne(let destination):
      leadsNowhere(cell.column, row) ? nil : appendTarget(row, of: cell.column, destination, to: &buffer)
    case .toMany(let destination): appendTargets(cell.column.range(row), of: cell.column, destination, to: &buffer)
    }
  }

  @inline(__always)
  private func append(_ type: AttributeType, _ view: ColumnView, _ row: Int, to buffer: inout PropertyListObjectBuffer)
    -> Int
  {
    switch type {
    case .string, .uri: buffer.append(text: view.unsafeBytes(row))
    case .integer16, .integer32, .integer64: buffer.append(integer: view.unsafeInteger(row))
    case .boolean: view.unsafeBoolean(row) ? shared.trueNumber : shared.falseNumber
    case .date: buffer.append(date: view.unsafeDouble(row))
    case .double: buffer.append(double: view.unsafeDouble(row))
    case .float: buffer.append(float: view.unsafeFloat(row))
    case .decimal: buffer.append(string: PropertyValue.decimal(view.unsafeDecimal(row)).text(of: .decimal) ?? "")
    case .uuid: buffer.append(uuid: view.unsafeUUID(row).uuid)
    case .binary, .transformable, .undefined: buffer.append(data: view.unsafeBytes(row))
    }
  }

  private func appendTargets(
    _ range: Range<Int>,
    of column: RecordColumn,
    _ destination: Int,
    to buffer: inout PropertyListObjectBuffer
  ) -> Int? {
    if range.isEmpty { return nil }
    var numbers: [Int] = []
    for index in range {
      if let number = appendTarget(index, of: column, destination, to: &buffer) { numbers.append(number) }
    }
    return buffer.append(array: numbers)
  }

  private func appendTarget(
    _ index: Int,
    of column: RecordColumn,
    _ destination: Int,
    to buffer: inout PropertyListObjectBuffer
  ) -> Int? {
    guard let references = column.references else { return nil }
    let reference = appendReference(index, of: references, to: &buffer)
    let ordinal = references.entityOrdinal(index)
    if ordinal == destination { return reference }
    return buffer.append(dictionary: [
      (shared.entityKey, shared.entityNames[ordinal]), (shared.referenceKey, reference),
    ])
  }
}
