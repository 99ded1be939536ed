import HeartwoodFoundation

/// Builds a graph of objects in the layout of `NSKeyedArchiver` in a property list: a list of objects that refer to
/// each other by number.
@_spi(CoreDataFiles)
public struct KeyedArchiveWriter {
  /// The version of the format that archives name.
  public static let version: Int64 = 100_000

  private var objects: [ArchiveValue] = [.string("$null")]
  private var texts: [String: Int] = [:]
  private var classes: [ArchivedClass: Int] = [:]

  /// Creates an archive without objects.
  public init() {}

  // MARK: Objects

  /// Reserves a number for an object that others refer to before it is written.
  public mutating func reserve() -> Int {
    objects.append(.null)
    return objects.count - 1
  }

  /// Writes an object whose number has been reserved.
  public mutating func set(_ number: Int, _ type: ArchivedClass, _ members: [String: ArchiveValue]) {
    var members = members
    members["$class"] = reference(to: type)
    objects[number] = .dictionary(members)
  }

  /// Adds an object with its members, and returns a reference to it.
  public mutating func object(_ type: ArchivedClass, _ members: [String: ArchiveValue]) -> ArchiveValue {
    let number = reserve()
    set(number, type, members)
    return .reference(number)
  }

  /// Adds a value that is an object by itself.
  public mutating func value(_ value: ArchiveValue) -> ArchiveValue {
    objects.append(value)
    return .reference(objects.count - 1)
  }

  /// Adds a text. Equal texts are one object.
  public mutating func text(_ text: String) -> ArchiveValue {
    if let number = texts[text] { return .reference(number) }
    texts[text] = objects.count
    return value(.string(text))
  }

  /// Adds a text; nil is a reference to nothing.
  public mutating func text(_ text: String?) -> ArchiveValue {
    guard let text else { return .nothing }
    return self.text(text)
  }

  /// Adds an array or a set.
  public mutating func list(_ type: ArchivedClass, _ items: [ArchiveValue]) -> ArchiveValue {
    object(type, ["NS.objects": .array(items)])
  }

  /// Adds a dictionary, whose keys are texts. The members keep their order.
  public mutating func dictionary(
    _ type: ArchivedClass,
    _ members: [(key: String, value: ArchiveValue)]
  ) -> ArchiveValue {
    let keys = members.map { text($0.key) }
    return object(type, ["NS.keys": .array(keys), "NS.objects": .array(members.map(\.value))])
  }

  private mutating func reference(to type: ArchivedClass) -> ArchiveValue {
    if let number = classes[type] { return .reference(number) }
    classes[type] = objects.count
    let names = ([type.name] + type.ancestors).map(ArchiveValue.string)
    return value(.dictionary(["$classname": .string(type.name), "$classes": .array(names)]))
  }

  // MARK: The whole

  /// Returns the archive of the object that `root` refers to, as a binary property list: the same bytes for the same
  /// objects.
  public func bytes(root: ArchiveValue) -> [UInt8] {
    ArchiveEncoder.binary(
      .dictionary([
        "$archiver": .string(KeyedArchive.archiver), "$version": .integer(Self.version),
        "$top": .dictionary(["root": root]), "$objects": .array(objects),
      ])
    )
  }
}

@_spi(CoreDataFiles)
extension ArchiveValue {
  /// The reference to the null object.
  public static let nothing = ArchiveValue.reference(0)
}

// MARK: ArchiveEncoder

/// Writes the values of an archive as objects of a binary property list, equal texts and numbers once.
@_spi(CoreDataFiles)
public struct ArchiveEncoder: ~Copyable {
  private var buffer: PropertyListObjectBuffer
  private var texts: [String: Int] = [:]
  private var integers: [Int64: Int] = [:]

  private init(referenceWidth: Int) {
    buffer = PropertyListObjectBuffer(firstNumber: 0, referenceWidth: referenceWidth, capacity: 1 << 12)
  }

  /// Returns a binary property list of a value.
  public static func binary(_ value: ArchiveValue) -> [UInt8] {
    let width = PropertyListObjectBuffer.referenceWidth(value.count)
    var encoder = ArchiveEncoder(referenceWidth: width)
    let root = encoder.append(value)
    return PropertyListData.file(encoder.buffer.sealed(), root: root, referenceWidth: width)
  }

  /// Appends the value and returns the number of its object.
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
  /// The greatest number of objects that the value may have in a property list.
  fileprivate var count: Int {
    switch self {
    case .array(let values): values.reduce(1) { $0 + $1.count }
    case .dictionary(let members): members.reduce(1) { $0 + 1 + $1.value.count }
    default: 1
    }
  }
}
