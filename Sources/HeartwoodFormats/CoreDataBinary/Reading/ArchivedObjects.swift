import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The objects of a keyed archive, found by number in the bytes of a file. An object is read only when it is used, and
/// no instance of the class in the archive is ever created.
///
/// Objects are identified by their numbers in the property list. ``KeyedArchive`` reads small archives as a whole; this
/// one reads large ones in place.
final class ArchivedObjects {
  /// The value of an object, if attributes have values of the kind.
  enum Value {
    case null
    case scalar(PropertyListScalar)
    case uuid(uuid_t)
    case uri(String)
    case decimal(ArchivedDecimal)
    /// An object of another class.
    case other
  }

  let list: BinaryPropertyList
  /// The offset of the archive in the file.
  let start: Int
  private let objects: BinaryPropertyList.References
  private let top: (keys: BinaryPropertyList.References, values: BinaryPropertyList.References)
  private var classNames: [Int: String] = [:]
  private var keyNames: [Int: String] = [:]

  /// - Parameter range: the place of the archive in the file.
  init(_ region: ByteRegion, in range: Range<Int>) throws(PropertyListFault) {
    guard let slice = ByteSlice(region, offset: range.lowerBound, count: range.count) else {
      throw PropertyListFault(offset: 0, reason: "The file was cut short while it was read.")
    }
    start = range.lowerBound
    list = try BinaryPropertyList(slice)
    guard case .dictionary(let keys, let values) = try list.object(list.root),
      let archiver = try list.member("$archiver", of: keys, values),
      try list.scalar(archiver)?.string == KeyedArchive.archiver,
      let all = try list.member("$objects", of: keys, values), case .array(let objects) = try list.object(all),
      let top = try list.member("$top", of: keys, values), case .dictionary(let names, let roots) = try list.object(top)
    else {
      throw PropertyListFault(offset: try list.offset(list.root), reason: "The property list is not a keyed archive.")
    }
    self.objects = objects
    self.top = (names, roots)
  }

  /// The most parts of an archive that they are looked for among. It has four.
  private static let mostParts = 16

  /// Makes an archive of objects that may be damaged. What was archived under a key is nil if that is lost.
  ///
  /// - Throws: ``PropertyListFault`` if the list of the archived objects is lost.
  init(remainsOf list: BinaryPropertyList, start: Int) throws(PropertyListFault) {
    self.list = list
    self.start = start
    for number in [list.root] + Array(0..<list.objectCount) {
      // try?: the list of the objects is looked for in another dictionary.
      guard case .dictionary(let keys, let values)? = try? list.object(number), keys.count <= Self.mostParts,
        let all = try? list.member("$objects", of: keys, values), case .array(let objects)? = try? list.object(all)
      else { continue }
      self.objects = objects
      // try?: without the list of the roots, none is found.
      if let top = try? list.member("$top", of: keys, values),
        case .dictionary(let names, let roots)? = try? list.object(top)
      {
        self.top = (names, roots)
      } else {
        let none = BinaryPropertyList.References(bytes: UnsafeRawBufferPointer(start: nil, count: 0), width: 1)
        self.top = (none, none)
      }
      return
    }
    throw PropertyListFault(offset: 0, reason: "The list of the objects of the archive is missing or damaged.")
  }

  // MARK: Objects

  /// Returns the object that was archived under `key`; nil if there is none.
  func root(_ key: String) throws(PropertyListFault) -> Int? {
    guard let value = try list.member(key, of: top.keys, top.values) else { return nil }
    return try target(value)
  }

  /// Returns the object that a value refers to, or the value itself if it is no reference.
  func target(_ value: Int) throws(PropertyListFault) -> Int {
    guard case .reference(let number)? = try list.archiveMark(value) else { return value }
    guard number < objects.count else {
      throw PropertyListFault(
        offset: try list.offset(value),
        reason: "A reference points to an object that does not exist."
      )
    }
    return objects[number]
  }

  /// Returns the value of `object` under `key`; nil if there is none, or if it is no dictionary.
  func member(_ key: String, of object: Int) throws(PropertyListFault) -> Int? {
    guard try !isMark(object), case .dictionary(let keys, let values) = try list.object(object) else { return nil }
    for index in 0..<keys.count where try name(keys[index]) == key { return try target(values[index]) }
    return nil
  }

  /// Returns the text of a key. Dictionaries share their keys, so each is read once.
  private func name(_ key: Int) throws(PropertyListFault) -> String {
    if let name = keyNames[key] { return name }
    guard let name = try list.key(key) else {
      throw PropertyListFault(offset: try list.offset(key), reason: "A key is not text.")
    }
    keyNames[key] = name
    return name
  }

  /// Returns the name of the class of `object`; nil if it has none.
  func className(_ object: Int) throws(PropertyListFault) -> String? {
    guard let description = try member("$class", of: object) else { return nil }
    if let name = classNames[description] { return name }
    guard let named = try member("$classname", of: description), let name = try list.scalar(named)?.string else {
      throw PropertyListFault(offset: try list.offset(description), reason: "The class of an object has no name.")
    }
    classNames[description] = name
    return name
  }

  /// Returns the elements of an array or a set, as values that may be references; nil for another object.
  func items(_ object: Int) throws(PropertyListFault) -> BinaryPropertyList.References? {
    guard let array = try member(CoreDataBinaryWords.objects, of: object), try !isMark(array),
      case .array(let items) = try list.object(array)
    else { return nil }
    return items
  }

  /// Returns the members of a dictionary, as values that may be references; nil for another object.
  func pairs(
    _ object: Int
  ) throws(PropertyListFault) -> (keys: BinaryPropertyList.References, values: BinaryPropertyList.References)? {
    guard let array = try member(CoreDataBinaryWords.keys, of: object), try !isMark(array),
      case .array(let keys) = try list.object(array), let values = try items(object), keys.count == values.count
    else { return nil }
    return (keys, values)
  }

  /// Returns a number that is an object, or a member of one.
  func integer(_ object: Int) throws(PropertyListFault) -> Int64? {
    guard try !isMark(object), case .integer(let number)? = try list.scalar(object) else { return nil }
    return number
  }

  /// Returns a text, mutable or not.
  func text(_ object: Int) throws(PropertyListFault) -> String? {
    guard case .scalar(let scalar) = try value(object) else { return nil }
    if case .data = scalar { return nil }
    return scalar.string
  }

  /// Returns whether it is a null or a reference, which occur only in property lists of archives.
  private func isMark(_ object: Int) throws(PropertyListFault) -> Bool { try list.archiveMark(object) != nil }

  // MARK: Values

  private static let null = "$null"

  /// Returns the value of `object`.
  func value(_ object: Int) throws(PropertyListFault) -> Value {
    switch try list.archiveMark(object) {
    case .null?: return .null
    case .some:
      throw PropertyListFault(offset: try list.offset(object), reason: "A reference points to another reference.")
    case nil: break
    }
    switch try list.object(object) {
    case .scalar(.text(let bytes)) where bytes.elementsEqual(Self.null.utf8): return .null
    case .scalar(let scalar): return .scalar(scalar)
    case .array: return .other
    case .dictionary: return try instance(object)
    }
  }

  private func instance(_ object: Int) throws(PropertyListFault) -> Value {
    switch try className(object) {
    case "NSNull": return .null
    case "NSString", "NSMutableString":
      if let text = try scalar("NS.string", of: object) { return .scalar(text) }
      // Text that is archived as bytes is in UTF-8.
      guard case .data(let bytes)? = try scalar("NS.bytes", of: object) else { break }
      return .scalar(.text(bytes))
    case "NSData", "NSMutableData":
      for key in ["NS.data", "NS.bytes"] {
        if let data = try scalar(key, of: object) { return .scalar(data) }
      }
    case "NSDate": return try date(object)
    case "NSUUID":
      guard case .data(let bytes)? = try scalar("NS.uuidbytes", of: object), bytes.count == 16 else { break }
      return .uuid(bytes.loadUnaligned(as: uuid_t.self))
    case "NSURL": return try uri(object).map(Value.uri) ?? .other
    case "NSDecimalNumber": return try decimal(object)
    default: return .other
    }
    throw PropertyListFault(offset: try list.offset(object), reason: "The object does not have what its class needs.")
  }

  private func scalar(_ key: String, of object: Int) throws(PropertyListFault) -> PropertyListScalar? {
    guard let member = try member(key, of: object), try !isMark(member) else { return nil }
    return try list.scalar(member)
  }

  private func date(_ object: Int) throws(PropertyListFault) -> Value {
    switch try scalar("NS.time", of: object) {
    case .real(let seconds)?, .date(let seconds)?: return .scalar(.date(seconds))
    case .integer(let seconds)?: return .scalar(.date(Double(seconds)))
    default: throw PropertyListFault(offset: try list.offset(object), reason: "The date has no time.")
    }
  }

  /// Returns nil for a URI that is relative to another one that is relative itself.
  private func uri(_ object: Int) throws(PropertyListFault) -> String? {
    guard let text = try scalar("NS.relative", of: object)?.string else { return nil }
    guard let base = try member("NS.base", of: object), case .dictionary = try objectKind(base) else { return text }
    guard let root = try scalar("NS.relative", of: base)?.string, let url = URL(string: root) else { return nil }
    if let next = try member("NS.base", of: base), case .dictionary = try objectKind(next) { return nil }
    return URL(string: text, relativeTo: url)?.absoluteString
  }

  private func objectKind(_ object: Int) throws(PropertyListFault) -> BinaryPropertyList.Object? {
    try isMark(object) ? nil : try list.object(object)
  }

  private func decimal(_ object: Int) throws(PropertyListFault) -> Value {
    guard case .data(let mantissa)? = try scalar("NS.mantissa", of: object),
      case .integer(let exponent)? = try scalar("NS.exponent", of: object)
    else { return .other }
    var isNegative = false
    switch try scalar("NS.negative", of: object) {
    case .boolean(let flag)?: isNegative = flag
    case .integer(let number)?: isNegative = number != 0
    default: break
    }
    func number(_ key: String) throws(PropertyListFault) -> Int? {
      guard case .integer(let number)? = try scalar(key, of: object) else { return nil }
      return Int(exactly: number)
    }
    let decimal = ArchivedDecimal(
      mantissa: Array(mantissa.prefix(ArchivedDecimal.mostUnits * 2 + 1)),
      exponent: Int(exactly: exponent) ?? .max,
      length: try number("NS.length"),
      isNegative: isNegative,
      byteOrder: try number("NS.mantissa.bo")
    )
    return decimal.map(Value.decimal) ?? .other
  }
}

// MARK: Parts

extension ArchivedObjects {
  /// The greatest depth of values nested in one object.
  private static let deepestNesting = 32

  /// Returns the object, with all objects that can be reached from it, as an archive of its own; the same bytes for the
  /// same objects.
  ///
  /// - Parameter allowance: the number of bytes that may still be made: many objects may refer to the same large one.
  func archive(of object: Int, _ allowance: RecordAllowance) throws(PropertyListFault) -> [UInt8] {
    var numbers = [object: 1]
    var order = [object]
    var parts: [ArchiveValue] = [.string(Self.null)]
    while parts.count <= order.count {
      let next = order[parts.count - 1]
      parts.append(
        try copy(next, depth: 0, allowance) { target in
          if let number = numbers[target] { return number }
          order.append(target)
          numbers[target] = order.count
          return order.count
        }
      )
    }
    return ArchiveEncoder.binary(
      .dictionary([
        "$archiver": .string(KeyedArchive.archiver), "$version": .integer(KeyedArchiveWriter.version),
        "$top": .dictionary(["root": .reference(1)]), "$objects": .array(parts),
      ])
    )
  }

  private func copy(
    _ object: Int,
    depth: Int,
    _ allowance: RecordAllowance,
    _ number: (Int) -> Int
  ) throws(PropertyListFault) -> ArchiveValue {
    let offset = try list.offset(object)
    guard depth < Self.deepestNesting else {
      throw PropertyListFault(offset: offset, reason: "The values of an object are nested too deep.")
    }
    if let mark = try list.archiveMark(object) {
      guard case .reference = mark else { return .null }
      let target = try target(object)
      return try isNull(target) ? .nothing : .reference(number(target))
    }
    guard allowance.take(32) else { throw PropertyListFault(offset: offset, reason: Self.tooLarge) }
    switch try list.object(object) {
    case .scalar(let scalar):
      guard allowance.take(scalar.byteCount) else { throw PropertyListFault(offset: offset, reason: Self.tooLarge) }
      guard let value = ArchiveValue(scalar) else {
        throw PropertyListFault(offset: offset, reason: "The text is not UTF-16.")
      }
      return value
    case .array(let items):
      var values: [ArchiveValue] = []
      for index in 0..<items.count { values.append(try copy(items[index], depth: depth + 1, allowance, number)) }
      return .array(values)
    case .dictionary(let keys, let values):
      // Objects are numbered in the order in which they are reached, so the order of a dictionary's members determines
      // the bytes.
      var named: [(name: String, value: Int)] = []
      for index in 0..<keys.count { named.append((try name(keys[index]), values[index])) }
      var members: [String: ArchiveValue] = [:]
      for (name, value) in named.sorted(by: { $0.name < $1.name }) {
        members[name] = try copy(value, depth: depth + 1, allowance, number)
      }
      return .dictionary(members)
    }
  }

  private static let tooLarge: StaticString = "The values take far more memory than the file has bytes."

  private func isNull(_ object: Int) throws(PropertyListFault) -> Bool {
    if case .null? = try list.archiveMark(object) { return true }
    guard try !isMark(object), case .text(let bytes)? = try list.scalar(object) else { return false }
    return bytes.elementsEqual(Self.null.utf8)
  }
}

// MARK: Metadata

extension ArchivedObjects {
  private static let deepestMetadata = 32

  /// Returns the metadata value for an object; nil if it is, or contains, a value that metadata cannot hold.
  func metadataValue(
    _ object: Int,
    _ allowance: RecordAllowance,
    depth: Int = 0
  ) throws(PropertyListFault) -> MetadataValue? {
    guard depth < Self.deepestMetadata, allowance.take(32) else {
      throw PropertyListFault(
        offset: try list.offset(object),
        reason: "The metadata is nested too deep, or takes far more memory than the file has bytes."
      )
    }
    switch try value(object) {
    case .scalar(let scalar):
      guard allowance.take(scalar.byteCount) else {
        throw PropertyListFault(offset: try list.offset(object), reason: Self.tooLarge)
      }
      return scalar.value
    case .other: return try metadataCollection(object, allowance, depth: depth)
    case .null, .uuid, .uri, .decimal: return nil
    }
  }

  private func metadataCollection(
    _ object: Int,
    _ allowance: RecordAllowance,
    depth: Int
  ) throws(PropertyListFault) -> MetadataValue? {
    switch try className(object) {
    case "NSArray"?, "NSMutableArray"?:
      guard let items = try items(object) else { return nil }
      var values: [MetadataValue] = []
      for index in 0..<items.count {
        guard let value = try metadataValue(try target(items[index]), allowance, depth: depth + 1) else { return nil }
        values.append(value)
      }
      return .array(values)
    case "NSDictionary"?, "NSMutableDictionary"?:
      guard let (keys, values) = try pairs(object) else { return nil }
      var members: [String: MetadataValue] = [:]
      for index in 0..<keys.count {
        guard let key = try text(try target(keys[index])),
          let value = try metadataValue(try target(values[index]), allowance, depth: depth + 1)
        else { return nil }
        members[key] = value
      }
      return .dictionary(members)
    default: return nil
    }
  }
}
