public import HeartwoodFoundation

/// A store's own name for a record: a number, a UUID or a string, unique among the records of an entity in the store.
///
///     ReferenceID.integer(12).text   // "12"
///     ReferenceID.string("12").text  // "'12"
///     ReferenceID(text: "'12")       // .string("12")
///
/// Two strings are the same reference only if their UTF-8 bytes are the same: a store distinguishes records whose
/// references are canonically equivalent in Unicode.
public enum ReferenceID: Sendable {
  /// A number, such as that of a row in a table.
  case integer(Int64)
  /// A UUID, which no other record in any store has.
  case uuid(UUID)
  /// A string, such as a key that another system has given to the record.
  case string(String)
}

extension ReferenceID {
  /// The reference as text: digits, a UUID in capitals, or the string.
  ///
  /// A string that could be read as a number or a UUID, or that begins with an apostrophe, gets an apostrophe in front,
  /// so that ``init(text:)`` returns the same reference.
  public var text: String {
    switch self {
    case .integer(let number): return String(number)
    case .uuid(let uuid): return uuid.uuidString
    case .string(let string):
      return ReferenceID(text: string) == self ? string : "'" + string
    }
  }

  /// Reads a reference from the form that ``text`` has. Any string that is not a number or a UUID in that form is a
  /// string reference.
  public init(text: String) {
    if text.utf8.first == UInt8(ascii: "'") {
      self = .string(String(Substring(text.utf8.dropFirst())))
    } else if let number = Int64(text), String(number) == text {
      self = .integer(number)
    } else if text.utf8.count == 36, let uuid = UUID(uuidString: text), uuid.uuidString == text {
      self = .uuid(uuid)
    } else {
      self = .string(text)
    }
  }
}

extension ReferenceID {
  /// The number in a reference that Core Data has written, which begins with a p: 12 for `p12`. Nil for all other
  /// references.
  package var numberOfCoreData: Int64? {
    guard case .string(let text) = self, text.utf8.first == UInt8(ascii: "p") else { return nil }
    let digits = Substring(text.utf8.dropFirst())
    return Int64(digits).flatMap { $0 > 0 && String($0) == digits ? $0 : nil }
  }
}

extension ReferenceID: Hashable {
  /// Returns whether both are the same number, the same UUID, or strings of the same bytes.
  public static func == (left: ReferenceID, right: ReferenceID) -> Bool {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    default: false
    }
  }

  /// Hashes the number, the UUID, or the bytes of the text.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .integer(let number):
      hasher.combine(0 as UInt8)
      hasher.combine(number)
    case .uuid(let uuid):
      hasher.combine(1 as UInt8)
      hasher.combine(uuid)
    case .string(let text):
      hasher.combine(2 as UInt8)
      text.hashBytes(into: &hasher)
    }
  }
}

extension ReferenceID: CustomStringConvertible {
  /// The same as ``text``.
  public var description: String { text }
}
