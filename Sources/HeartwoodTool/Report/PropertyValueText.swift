import HeartwoodRecordText
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Values of properties in the form of `dump`, `fetch` and `edit`.
extension PropertyValue {
  /// The value as text; nil for null and for to-many relationships. A related record is its reference.
  var recordText: String? {
    switch self {
    case .null, .toMany: return nil
    case .integer: return text(of: .integer64)
    case .decimal: return text(of: .decimal)
    case .double: return text(of: .double)
    case .float: return text(of: .float)
    case .string: return text(of: .string)
    case .boolean: return text(of: .boolean)
    case .binary: return text(of: .binary)
    case .uuid: return text(of: .uuid)
    case .uri: return text(of: .uri)
    case .date(let date): return RecordDate.text(of: date)
    case .toOne(let id): return id.reference.text
    }
  }
}

extension JSONValue {
  /// Converts a value of a property. Finite numbers are JSON numbers, decimals are strings, a to-one relationship is a
  /// reference, and a to-many relationship is null.
  init(_ value: PropertyValue) {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .boolean(let flag): self = .boolean(flag)
    case .double(let number) where number.isFinite: self = .raw(value.recordText ?? "null")
    case .float(let number) where number.isFinite: self = .raw(value.recordText ?? "null")
    default: self = .optional(value.recordText)
    }
  }

  /// Converts a value of a property to the form of a dump. A to-many relationship is an array, and a record of another
  /// entity than `destination` is an object with `$entity` and `$id`.
  init(_ value: PropertyValue, destination: EntityDescription?) {
    switch value {
    case .toOne(let id): self = Self.reference(id, destination)
    case .toMany(let ids): self = .array(ids.map { Self.reference($0, destination) })
    default: self.init(value)
    }
  }

  private static func reference(_ id: ManagedObjectID, _ destination: EntityDescription?) -> JSONValue {
    let reference = JSONValue.string(id.reference.text)
    guard let destination, id.entity.name != destination.name else { return reference }
    return .object([("$entity", .string(id.entity.name)), ("$id", reference)])
  }
}
