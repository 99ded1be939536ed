import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes the values of some properties as fields of their columns.
struct ColumnWriter {
  /// A column, and the part of a property that it contains.
  struct Column {
    let name: String
    let type: PostgreSQLType
    let ordinal: Int
    let content: Content
  }

  enum Content {
    case attribute(AttributeType)
    /// The exact seconds of a date, beside the column with the date.
    case exactDate
    case toOne
  }

  let placement: EntityPlacement
  private(set) var columns: [Column] = []
  private let writer: RecordWriter

  init(_ placement: EntityPlacement, ordinals: [Int], _ writer: RecordWriter) {
    self.placement = placement
    self.writer = writer
    for ordinal in ordinals {
      switch placement.properties[ordinal] {
      case .attribute(let place):
        columns.append(
          Column(
            name: place.column,
            type: place.columnType,
            ordinal: ordinal,
            content: .attribute(place.type)
          )
        )
        if let exactColumn = place.exactColumn {
          columns.append(
            Column(name: exactColumn, type: .double, ordinal: ordinal, content: .exactDate)
          )
        }
      case .toOne(let place):
        columns.append(Column(name: place.column, type: .uuid, ordinal: ordinal, content: .toOne))
      case .toMany, .join, nil: break
      }
    }
  }

  /// Appends a field.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported``.
  func append(_ value: PropertyValue, _ column: Column, to bytes: inout [UInt8])
    throws(PersistenceError)
  {
    switch column.content {
    case .attribute(let type):
      do throws(AttributeField.Refusal) {
        try AttributeField.append(value, as: type, to: &bytes)
      } catch {
        throw PersistenceError(
          .valueUnsupported,
          error.problem,
          recovery: error.recovery,
          context: .init(
            path: writer.place,
            storeType: .postgreSQL,
            entity: placement.entity.name,
            property: placement.entity.properties[column.ordinal].name
          )
        )
      }
    case .exactDate: AttributeField.appendExact(value, to: &bytes)
    case .toOne:
      guard case .toOne(let id) = value else { return bytes.appendNullField() }
      bytes.appendField(try writer.key(id))
    }
  }

  /// Returns an array builder for each column.
  func makeArrays(capacity: Int) -> [PostgreSQLParameter.ArrayBuilder] {
    columns.map { PostgreSQLParameter.ArrayBuilder($0.type, capacity: capacity) }
  }

  /// Returns the rows of parallel arrays, called `u`: keys, versions, and the columns `c0` and so on.
  ///
  /// - Parameter number: the number of the parameter with the keys.
  func unnest(from number: Int) -> String {
    let types = ["uuid", "bigint"] + columns.map(\.type.rawValue)
    let arrays = types.enumerated().map { "$\(number + $0)::\($1)[]" }
    let names = ["id", "version"] + columns.indices.map { "c\($0)" }
    return "unnest(\(arrays.joined(separator: ", "))) AS u(\(names.joined(separator: ", ")))"
  }
}
