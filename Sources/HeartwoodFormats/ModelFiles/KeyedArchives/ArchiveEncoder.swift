#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes the values of an archive as objects of a binary property list, equal texts and numbers once.
struct ArchiveEncoder: ~Copyable {
  private var buffer: PropertyListObjectBuffer
  private var texts: [String: Int] = [:]
  private var integers: [Int64: Int] = [:]

  private init(referenceWidth: Int) {
    buffer = PropertyListObjectBuffer(firstNumber: 0, referenceWidth: referenceWidth, capacity: 1 << 12)
  }

  /// A binary property list of a value.
  static func binary(_ value: ArchiveValue) -> [UInt8] {
    let width = PropertyListObjectBuffer.referenceWidth(value.count)
    var encoder = ArchiveEncoder(referenceWidth: width)
    let root = encoder.append(value)
    return PropertyListData.file(encoder.buffer.sealed(), root: root, referenceWidth: width)
  }

  /// The number of the value's object.
  private mutating func append(_ value: ArchiveValue) -> Int {
    switch value {
    case .null: return buffer.appendNull()
    case .boolean(let flag): return buffer.append(boolean: flag)
    case .integer(let number): return append(integer: number)
    case .real(let number): return buffer.append(double: number)
    case .date(let date): return buffer.append(date: date.timeIntervalSinceReferenceDate)
    case .string(let text): return append(text: text)
    case .data(let data): return data.withUnsafeBytes { buffer.append(data: $0) }
    case .reference(let number): return buffer.append(archiveReference: number)
    case .array(let values):
      var numbers: [Int] = []
      for value in values { numbers.append(append(value)) }
      return buffer.append(array: numbers)
    case .dictionary(let members):
      var numbers: [(key: Int, value: Int)] = []
      for (key, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        numbers.append((append(text: key), append(value)))
      }
      return buffer.append(dictionary: numbers)
    }
  }

  private mutating func append(text: String) -> Int {
    if let number = texts[text] { return number }
    let number = buffer.append(string: text)
    texts[text] = number
    return number
  }

  private mutating func append(integer: Int64) -> Int {
    if let number = integers[integer] { return number }
    let number = buffer.append(integer: integer)
    integers[integer] = number
    return number
  }
}

extension ArchiveValue {
  /// How many objects of a property list it is, at most.
  fileprivate var count: Int {
    switch self {
    case .array(let values): values.reduce(1) { $0 + $1.count }
    case .dictionary(let members): members.reduce(1) { $0 + 1 + $1.value.count }
    default: 1
    }
  }
}
