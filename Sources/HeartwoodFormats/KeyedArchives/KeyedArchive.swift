public import HeartwoodFoundation

/// A graph of objects in the layout of `NSKeyedArchiver` in a property list: a list of objects that refer to each other
/// by number.
///
/// No instance of the classes in the archive is ever created: it is read as data. Objects may refer to one another many
/// times, so the number of steps is limited; after that the archive appears to be empty, and ``isExhausted`` is true.
@_spi(CoreDataFiles)
public final class KeyedArchive {
  /// The name of the archiver that every file of this kind contains.
  public static let archiver = "NSKeyedArchiver"
  private static let mostSteps = 20_000_000

  fileprivate let objects: [ArchiveValue]
  private let top: [String: ArchiveValue]
  /// The number of steps that may still be taken; negative after one that was not allowed.
  public private(set) var stepsLeft: Int

  /// Whether more has been requested than a valid archive can contain, so that the result is incomplete.
  public var isExhausted: Bool { stepsLeft < 0 }

  /// Counts steps, and returns whether they may be taken.
  fileprivate func take(_ count: Int) -> Bool {
    stepsLeft -= count
    return !isExhausted
  }

  /// - Parameter steps: the number of steps that may be taken; nil means as many as a model needs.
  public convenience init(_ bytes: [UInt8], steps: Int? = nil) throws(ArchiveError) {
    try self.init(ArchiveReader.value(of: bytes), steps: steps)
  }

  /// - Parameters:
  ///   - value: the property list, which has been read already.
  ///   - steps: the number of steps that may be taken; nil means as many as a model needs.
  /// - Throws: ``ArchiveError`` if it is no keyed archive.
  public init(_ value: ArchiveValue, steps: Int? = nil) throws(ArchiveError) {
    stepsLeft = steps ?? Self.mostSteps
    guard case .dictionary(let members) = value,
      case .string(Self.archiver) = members["$archiver"],
      case .array(let objects) = members["$objects"], case .dictionary(let top) = members["$top"]
    else { throw ArchiveError(message: "The property list is not a keyed archive.") }
    self.objects = objects
    self.top = top
  }

  /// The object that the archive was made from; nil if it contains none.
  public var root: ArchiveNode? { self["root"] }

  /// The object that was archived under `key`.
  public subscript(key: String) -> ArchiveNode? {
    top[key].flatMap { ArchiveNode($0, in: self) }
  }
}

/// An object of a keyed archive, or a value of one.
@_spi(CoreDataFiles)
public struct ArchiveNode {
  private static let null = "$null"
  private static let classKey = "$class"

  /// The value, in which other objects are references.
  public let value: ArchiveValue
  /// The number of the object; nil for a value that is stored in an object itself.
  public let number: Int?
  private let archive: KeyedArchive

  /// Makes a node for the value, or for the object that it refers to; nil if that is a null, or missing.
  fileprivate init?(_ value: ArchiveValue, in archive: KeyedArchive) {
    if case .reference(let number) = value {
      guard archive.objects.indices.contains(number) else { return nil }
      (self.value, self.number) = (archive.objects[number], number)
    } else {
      (self.value, self.number) = (value, nil)
    }
    self.archive = archive
    switch self.value {
    case .null, .reference, .string(Self.null): return nil
    default: break
    }
  }

  /// The value of the object under `key`, if there is one.
  public subscript(key: String) -> ArchiveNode? {
    guard case .dictionary(let members) = value, archive.take(1) else { return nil }
    return members[key].flatMap { ArchiveNode($0, in: archive) }
  }

  /// The name of the class of the object.
  public var className: String? { self[Self.classKey]?["$classname"]?.string }
}

// MARK: Values

@_spi(CoreDataFiles)
extension ArchiveNode {
  /// The text, if it is a string or a mutable string; nil for another value.
  public var string: String? {
    switch value {
    case .string(let text): text
    case .dictionary: self["NS.string"]?.string
    default: nil
    }
  }

  /// The number, if it is a whole one that fits, or a Boolean value as 0 or 1; nil for another value.
  public var integer: Int? {
    switch value {
    case .integer(let number): Int(exactly: number)
    case .boolean(let flag): flag ? 1 : 0
    case .real(let number): Int(exactly: number)
    default: nil
    }
  }

  /// Whether it is a number other than 0, or true.
  public var isTrue: Bool { (integer ?? 0) != 0 }

  /// The elements of an array or a set; empty for another object.
  public var items: [ArchiveNode] {
    guard case .array(let values)? = arrayValue, archive.take(values.count) else { return [] }
    return values.compactMap { ArchiveNode($0, in: archive) }
  }

  /// Whether it is an array or a set.
  public var isList: Bool {
    guard case .array? = arrayValue else { return false }
    return self["NS.keys"] == nil
  }

  private var arrayValue: ArchiveValue? {
    if case .array = value { return value }
    return self["NS.objects"]?.value
  }

  /// The members of a dictionary, in the order of the archive; empty for another object.
  public var members: [(key: String, value: ArchiveNode)] {
    if let mapping = self["searchMapping"] { return pairs(mapping["keys"], self["values"]) }
    return pairs(self["NS.keys"], self["NS.objects"])
  }

  private func pairs(_ keys: ArchiveNode?, _ values: ArchiveNode?) -> [(key: String, value: ArchiveNode)] {
    guard case .array(let keys)? = keys?.arrayValue, case .array(let values)? = values?.arrayValue,
      archive.take(keys.count)
    else { return [] }
    return zip(keys, values).compactMap { key, value in
      guard let key = ArchiveNode(key, in: archive)?.string, let value = ArchiveNode(value, in: archive) else {
        return nil
      }
      return (key, value)
    }
  }
}

// MARK: ArchiveValue

/// A value of a property list, including the references between the objects of keyed archives.
@_spi(CoreDataFiles)
public indirect enum ArchiveValue: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case date(Date)
  case string(String)
  case data(Data)
  case array([ArchiveValue])
  case dictionary([String: ArchiveValue])
  /// The number of another object of the archive.
  case reference(Int)
}

@_spi(CoreDataFiles)
extension ArchiveValue {
  /// The greatest depth of values nested in a single object of an archive; objects refer to each other by number.
  public static let deepestNesting = 32
  /// The greatest number of values in an archive; values that occur in several places are counted for each.
  public static let mostValues = 4_000_000
}

/// The reason why a file is not a keyed archive that can be read.
@_spi(CoreDataFiles)
public struct ArchiveError: Error {
  /// What is wrong with the file, as a sentence.
  public let message: String
  /// The offset in a binary file, in bytes.
  public var offset: Int?
  /// The line in an XML file, from 1.
  public var line: Int?

  /// Creates an error with the place in the file, if that is known.
  public init(message: String, offset: Int? = nil, line: Int? = nil) {
    self.message = message
    self.offset = offset
    self.line = line
  }
}

// MARK: ArchivedClass

/// The class of an object in an archive, with the classes that it inherits from.
@_spi(CoreDataFiles)
public struct ArchivedClass: Hashable, Sendable {
  /// The name of the class.
  public let name: String
  /// The superclasses, from the nearest one up to the last.
  public let ancestors: [String]

  /// Creates a class from its name and its superclasses, from the nearest one up, without `NSObject`.
  public init(_ name: String, _ ancestors: String...) {
    self.name = name
    self.ancestors = ancestors + ["NSObject"]
  }
}

@_spi(CoreDataFiles)
extension ArchivedClass {
  /// `NSArray`.
  public static let array = ArchivedClass("NSArray")
  /// `NSMutableArray`.
  public static let mutableArray = ArchivedClass("NSMutableArray", "NSArray")
  /// `NSSet`.
  public static let set = ArchivedClass("NSSet")
  /// `NSDictionary`.
  public static let dictionary = ArchivedClass("NSDictionary")
  /// `NSMutableDictionary`.
  public static let mutableDictionary = ArchivedClass("NSMutableDictionary", "NSDictionary")

  /// `NSDate`.
  public static let date = ArchivedClass("NSDate")
  /// `NSUUID`.
  public static let uuid = ArchivedClass("NSUUID")
  /// `NSURL`.
  public static let url = ArchivedClass("NSURL")
  /// `NSDecimalNumber`.
  public static let decimalNumber = ArchivedClass("NSDecimalNumber", "NSNumber", "NSValue")
}
