public import HeartwoodModel

/// Rows of values that a fetch gave: what Core Data has as an array of dictionaries.
///
/// The values lie in one array, the names of the columns are there once, and their order is that of the request.
public struct FetchRows: Sendable, Hashable {
  /// The names of the columns.
  public let names: [String]
  /// The values of all rows, one row after the other.
  private let values: [PropertyValue]

  /// - Parameter values: as many for each row as there are names.
  init(names: [String], values: [PropertyValue]) {
    self.names = names
    self.values = values
  }
}

extension FetchRows: RandomAccessCollection {
  /// 0, the place of the first row.
  public var startIndex: Int { 0 }

  /// How many rows there are.
  public var endIndex: Int { names.isEmpty ? 0 : values.count / names.count }

  /// The row at a place. O(1).
  public subscript(position: Int) -> FetchRow {
    FetchRow(names: names, values: values[(position * names.count)..<((position + 1) * names.count)])
  }
}

/// One row of values.
public struct FetchRow: Sendable, Hashable {
  /// The names of the columns.
  public let names: [String]
  private let slice: ArraySlice<PropertyValue>

  init(names: [String], values: ArraySlice<PropertyValue>) {
    self.names = names
    self.slice = values
  }

  /// The values, in the order of the columns. An object stands as its id.
  public var values: [PropertyValue] { Array(slice) }

  /// The value of the column at `index`.
  public subscript(index: Int) -> PropertyValue { slice[slice.startIndex + index] }

  /// The value of the column called `name`; nil where there is no such column, and ``PropertyValue/null`` where it has no value.
  public subscript(name: String) -> PropertyValue? { names.firstIndex(of: name).map { self[$0] } }

  /// The value of the column called `name` in a Swift type; nil where there is no value, or one of another type.
  public func value<Value: AttributeValue>(_ name: String, as type: Value.Type = Value.self) -> Value? {
    self[name].flatMap { Value(propertyValue: $0) }
  }

  /// The value of the attribute of `key`, where it is a column; nil where there is no value, or one of another type.
  public subscript<Value: AttributeValue>(key: AttributeKey<Value>) -> Value? { value(key.name) }

  /// The object that the column called `name` names; nil where it names none.
  public func objectID(_ name: String) -> ManagedObjectID? {
    if case .toOne(let id) = self[name] { id } else { nil }
  }

  /// The values by the names of their columns.
  public var dictionary: [String: PropertyValue] {
    Dictionary(zip(names, slice)) { first, _ in first }
  }
}

extension FetchRow: CustomStringConvertible {
  /// The names and the values, for a debugger or a test.
  public var description: String {
    zip(names, slice).map { "\($0): \($1)" }.joined(separator: ", ")
  }
}
