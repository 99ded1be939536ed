package import HeartwoodFoundation

/// A graph of objects as `NSKeyedArchiver` lays it out in a property list: a list of objects that lead to each other by number.
///
/// Nothing of it is ever made an instance of the class that it names: it is read as data. Objects may lead to one another many
/// times, so how many steps may be taken is bounded; afterwards the archive seems to be empty and says so.
package final class KeyedArchive {
  package static let archiver = "NSKeyedArchiver"
  private static let mostSteps = 20_000_000

  fileprivate let objects: [ArchiveValue]
  private let top: [String: ArchiveValue]
  /// How many steps may still be taken; negative once one could not be.
  package private(set) var stepsLeft: Int

  /// Whether more has been asked for than a sound archive can hold, so that what was read is not whole.
  package var isExhausted: Bool { stepsLeft < 0 }

  /// Counts steps; whether they may be taken.
  fileprivate func take(_ count: Int) -> Bool {
    stepsLeft -= count
    return !isExhausted
  }

  /// - Parameter steps: how many may be taken; nil means as many as a model needs.
  package init(_ bytes: [UInt8], steps: Int? = nil) throws(ArchiveError) {
    stepsLeft = steps ?? Self.mostSteps
    guard case .dictionary(let members) = try ArchiveReader.value(of: bytes),
      case .string(Self.archiver) = members["$archiver"],
      case .array(let objects) = members["$objects"], case .dictionary(let top) = members["$top"]
    else { throw ArchiveError(message: "The property list is no keyed archive.") }
    self.objects = objects
    self.top = top
  }

  /// The object that the archive was made of; nil where it names none.
  package var root: ArchiveNode? { self["root"] }

  /// The object that was archived under `key`.
  package subscript(key: String) -> ArchiveNode? {
    top[key].flatMap { ArchiveNode($0, in: self) }
  }
}

/// An object of a keyed archive, or a value of one.
package struct ArchiveNode {
  private static let null = "$null"
  private static let classKey = "$class"

  package let value: ArchiveValue
  /// The number of the object; nil for a value that stands in an object itself.
  package let number: Int?
  private let archive: KeyedArchive

  /// The value, or the object that it refers to; nil where that is nothing, or not there.
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

  /// What the object has under `key`, if anything.
  package subscript(key: String) -> ArchiveNode? {
    guard case .dictionary(let members) = value, archive.take(1) else { return nil }
    return members[key].flatMap { ArchiveNode($0, in: archive) }
  }

  /// The name of the class of the object.
  package var className: String? { self[Self.classKey]?["$classname"]?.string }
}

// MARK: Values

extension ArchiveNode {
  package var string: String? {
    switch value {
    case .string(let text): text
    case .dictionary: self["NS.string"]?.string
    default: nil
    }
  }

  package var integer: Int? {
    switch value {
    case .integer(let number): Int(exactly: number)
    case .boolean(let flag): flag ? 1 : 0
    case .real(let number): Int(exactly: number)
    default: nil
    }
  }

  package var isTrue: Bool { (integer ?? 0) != 0 }

  /// What is in an array or a set; empty for another object.
  package var items: [ArchiveNode] {
    guard case .array(let values)? = arrayValue, archive.take(values.count) else { return [] }
    return values.compactMap { ArchiveNode($0, in: archive) }
  }

  /// Whether it is an array or a set.
  package var isList: Bool {
    guard case .array? = arrayValue else { return false }
    return self["NS.keys"] == nil
  }

  private var arrayValue: ArchiveValue? {
    if case .array = value { return value }
    return self["NS.objects"]?.value
  }

  /// What is in a dictionary, in the order of the archive; empty for another object.
  package var members: [(key: String, value: ArchiveNode)] {
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

/// A value of a property list, with the references by which keyed archives lead from object to object.
package indirect enum ArchiveValue: Sendable {
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

extension ArchiveValue {
  /// How deep values may be nested in a single object of an archive; objects lead to each other by number.
  package static let deepestNesting = 32
  /// How many values an archive may have, those that stand in several places counted for each.
  package static let mostValues = 4_000_000
}

/// Why a file is no keyed archive that is read here.
package struct ArchiveError: Error {
  package let message: String
  /// Where in a binary file, in bytes.
  package var offset: Int?
  /// Where in an XML file, from 1.
  package var line: Int?

  package init(message: String, offset: Int? = nil, line: Int? = nil) {
    self.message = message
    self.offset = offset
    self.line = line
  }
}

// MARK: ArchivedClass

/// A class by which an archive calls an object, with those that it inherits from.
package struct ArchivedClass: Hashable, Sendable {
  package let name: String
  /// From the next one up to the last.
  package let ancestors: [String]

  package init(_ name: String, _ ancestors: String...) {
    self.name = name
    self.ancestors = ancestors + ["NSObject"]
  }
}

extension ArchivedClass {
  package static let array = ArchivedClass("NSArray")
  package static let mutableArray = ArchivedClass("NSMutableArray", "NSArray")
  package static let set = ArchivedClass("NSSet")
  package static let dictionary = ArchivedClass("NSDictionary")
  package static let mutableDictionary = ArchivedClass("NSMutableDictionary", "NSDictionary")

  package static let date = ArchivedClass("NSDate")
  package static let uuid = ArchivedClass("NSUUID")
  package static let url = ArchivedClass("NSURL")
  package static let decimalNumber = ArchivedClass("NSDecimalNumber", "NSNumber", "NSValue")
}
