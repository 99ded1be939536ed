public import HeartwoodFoundation

/// What a store itself calls a record: a number, a UUID or a string, unique among the records of an entity in the store.
///
/// Two strings are the same reference when they are the same bytes: a store keeps records apart that Unicode calls equivalent.
public enum ReferenceID: Sendable {
  /// A number, as of a row of a table.
  case integer(Int64)
  /// A UUID, which no other record anywhere has.
  case uuid(UUID)
  /// A string, such as a key that somebody else has given the record.
  case string(String)
}

extension ReferenceID {
  /// The reference as text: digits, a UUID in capitals, or the string.
  ///
  /// A string that would read as a number or a UUID, or that begins with an apostrophe, gets an apostrophe before it, so that
  /// ``init(text:)`` gives back the same reference.
  public var text: String {
    switch self {
    case .integer(let number): return String(number)
    case .uuid(let uuid): return uuid.uuidString
    case .string(let string):
      return ReferenceID(text: string) == self ? string : "'" + string
    }
  }

  /// The reference that ``text`` stands for.
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
  /// The number that is meant where Core Data has written the reference, which puts a p before it: 12 for `p12`. Nil for all else.
  package var numberOfCoreData: Int64? {
    guard case .string(let text) = self, text.utf8.first == UInt8(ascii: "p") else { return nil }
    let digits = Substring(text.utf8.dropFirst())
    return Int64(digits).flatMap { $0 > 0 && String($0) == digits ? $0 : nil }
  }
}

extension ReferenceID: Hashable {
  /// Whether both are the same number, the same UUID, or the same bytes of text.
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
