import HeartwoodFoundation
import HeartwoodModel

/// The kind of the keys of a table: a UUID in the tables of a store; also a number or a text in those of another
/// program.
enum RecordKey: Sendable, Hashable {
  case uuid, integer, text

  /// The type of a parameter that is compared with a key.
  var type: PostgreSQLType {
    switch self {
    case .uuid: .uuid
    case .integer: .bigint
    case .text: .text
    }
  }

  /// The collation in which keys are ordered as their references are.
  var collation: String { self == .text ? " COLLATE \"C\"" : "" }

  /// Returns the reference of the record with a key.
  func reference(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> ReferenceID {
    switch self {
    case .uuid: return .uuid(try BinaryField.uuid(bytes))
    case .integer: return .integer(try BinaryField.integer(bytes))
    case .text:
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw FieldFault("holds text that is not UTF-8")
      }
      return .string(text)
    }
  }

  /// Returns the bytes of a key; nil for a reference that no record with such keys has.
  func bytes(_ reference: ReferenceID) -> [UInt8]? {
    switch (self, reference) {
    case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { Array($0) }
    case (.integer, .integer(let number)): number.bigEndianBytes
    case (.text, .string(let text)): text.utf8.contains(0) ? nil : Array(text.utf8)
    default: nil
    }
  }

  /// Returns an array of keys. References that no record with such keys has are left out.
  func parameter(_ references: some Collection<ReferenceID>) -> PostgreSQLParameter {
    var keys = PostgreSQLParameter.ArrayBuilder(type, capacity: references.count)
    for reference in references {
      guard let bytes = bytes(reference) else { continue }
      keys.append { $0.appendField(bytes) }
    }
    return keys.parameter
  }
}
