import GRDB
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Converts values of one attribute to the form in which SQLite stores them.
struct StoredValue {
  /// The text that Core Data writes for a decimal number that is NaN.
  static let noNumber = "NaN"
  /// The maximum number of bytes of a value in a usual build of SQLite.
  static let greatestLength = 1_000_000_000

  private let entity: String
  private let property: String
  private let path: String

  init(_ entity: String, _ property: String, _ path: String) {
    self.entity = entity
    self.property = property
    self.path = path
  }

  /// Returns the value for the column.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` for a decimal number that a real cannot represent, for a real
  ///   or a date that is NaN, and for a value that is too long.
  func value(_ value: PropertyValue, _ storage: AttributeStorage) throws -> (any DatabaseValueConvertible)? {
    switch value {
    case .null, .toOne, .toMany: nil
    case .integer(let number): number
    case .boolean(let flag): flag ? 1 : 0
    case .double(let number): try self.number(number)
    case .float(let number): try self.number(Double(number))
    case .date(let date): try self.number(date.timeIntervalSinceReferenceDate)
    case .decimal(let number): number.isNaN ? Self.noNumber : try real(number)
    case .string(let text): try checked(text, length: text.utf8.count)
    case .uri(let uri): try checked(uri.absoluteString, length: uri.absoluteString.utf8.count)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Data($0) }
    case .binary(let data) where Self.isExternal(storage):
      Data([ExternalFiles.inlineMark]) + (try checked(data, length: data.count + 1))
    case .binary(let data): try checked(data, length: data.count)
    }
  }

  /// Returns the expression for a column's value in a statement, and its argument: a text that is passed as text would
  /// end at its first zero.
  static func argument(
    _ value: (any DatabaseValueConvertible)?
  ) -> (place: String, value: (any DatabaseValueConvertible)?) {
    guard let text = value as? String, text.utf8.contains(0) else { return ("?", value) }
    return ("CAST(? AS TEXT)", Data(text.utf8))
  }

  static func isExternal(_ storage: AttributeStorage) -> Bool {
    if case .externalBlob = storage { true } else { false }
  }

  private func checked<Value>(_ value: Value, length: Int) throws(PersistenceError) -> Value {
    try checkLength(length)
    return value
  }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if SQLite does not accept a value of so many bytes.
  func checkLength(_ length: Int) throws(PersistenceError) {
    guard length > Self.greatestLength else { return }
    throw PersistenceError(
      .valueUnsupported,
      "The value has \(length) bytes; SQLite keeps \(Self.greatestLength) at most.",
      recovery: "Keep it in a file of its own.",
      context: .init(path: path, storeType: .sqlite, entity: entity, property: property)
    )
  }

  /// Returns a real, which must not be NaN: SQLite would store it as NULL.
  @inline(__always)
  func number(_ number: Double) throws(PersistenceError) -> Double {
    if number.isNaN { throw notANumber }
    return number
  }

  private var notANumber: PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "SQLite cannot store NaN: it would be read as NULL.",
      recovery: "Set it to nil, or choose another type of store.",
      context: .init(path: path, storeType: .sqlite, entity: entity, property: property)
    )
  }

  /// Returns the real that represents `number`, as Core Data stores decimal numbers.
  func real(_ number: Decimal) throws(PersistenceError) -> Double {
    if let real = Double(number.description), Decimal(string: "\(real)") == number { return real }
    throw PersistenceError(
      .valueUnsupported,
      "SQLite keeps decimal numbers as reals, which hold 15 digits: this number would be changed.",
      recovery: "Round it, or choose another type of attribute or store.",
      context: .init(path: path, storeType: .sqlite, entity: entity, property: property)
    )
  }
}
