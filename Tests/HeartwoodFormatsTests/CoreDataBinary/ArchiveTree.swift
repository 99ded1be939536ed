import Foundation

@_spi(CoreDataFiles) @testable import HeartwoodFormats

/// What an archive holds, without the numbers of its objects: two archives of equal trees say the same.
indirect enum ArchiveTree: Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case data(Data)
  case list(className: String, [ArchiveTree])
  /// A dictionary: its order says nothing.
  case dictionary(className: String, [ArchiveTree: ArchiveTree])
  case object(className: String, [String: ArchiveTree])

  private struct Fault: Error {
    let reason: String
  }

  /// The object that is archived under `key`.
  ///
  /// Text and data that may be changed are taken for such that may not: an application's own strings are archived as what they are.
  init(_ bytes: [UInt8], key: String) throws {
    guard case .dictionary(let members) = try ArchiveReader.value(of: bytes),
      case .array(let objects) = members["$objects"],
      case .dictionary(let top) = members["$top"], let root = top[key]
    else { throw Fault(reason: "no archive") }
    self = try Self.tree(root, objects)
  }

  private static func tree(_ value: ArchiveValue, _ objects: [ArchiveValue]) throws -> ArchiveTree {
    switch value {
    case .null: return .null
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .date(let date): return .real(date.timeIntervalSinceReferenceDate)
    case .string(let text): return text == "$null" ? .null : .text(text)
    case .data(let data): return .data(data)
    case .reference(let number): return try tree(objects[number], objects)
    case .array(let values): return .list(className: "", try values.map { try tree($0, objects) })
    case .dictionary(let members): return try object(members, objects)
    }
  }

  private static func object(_ members: [String: ArchiveValue], _ objects: [ArchiveValue]) throws -> ArchiveTree {
    var found: [String: ArchiveTree] = [:]
    for (name, value) in members where name != "$class" { found[name] = try tree(value, objects) }
    guard case .reference(let number) = members["$class"], case .dictionary(let type) = objects[number],
      case .string(let className) = type["$classname"]
    else { return .object(className: "", found) }
    if case .text(let text)? = found["NS.string"], className.hasSuffix("String") { return .text(text) }
    if case .data(let data)? = found["NS.data"], className.hasSuffix("Data") { return .data(data) }
    guard case .list(_, let values)? = found["NS.objects"] else { return .object(className: className, found) }
    guard case .list(_, let keys)? = found["NS.keys"] else { return .list(className: className, values) }
    return .dictionary(className: className, Dictionary(uniqueKeysWithValues: zip(keys, values)))
  }

  /// The same dictionary without the member under `key`.
  func without(_ key: String) -> ArchiveTree {
    guard case .dictionary(let className, var members) = self else { return self }
    members[.text(key)] = nil
    return .dictionary(className: className, members)
  }

  /// The same, with numbers as one kind.
  var withRealNumbers: ArchiveTree {
    switch self {
    case .integer(let number): .real(Double(number))
    case .list(let className, let items): .list(className: className, items.map(\.withRealNumbers))
    case .dictionary(let className, let members):
      .dictionary(className: className, members.mapValues(\.withRealNumbers))
    case .object(let className, let members): .object(className: className, members.mapValues(\.withRealNumbers))
    default: self
    }
  }
}

extension [UInt8] {
  /// What lies in a part of a binary store of Core Data.
  func archiveTree(_ part: KeyPath<CoreDataBinaryHeader, Range<Int>>, of header: CoreDataBinaryHeader, key: String)
    throws -> ArchiveTree
  {
    try ArchiveTree(Array(self[header[keyPath: part]]), key: key)
  }
}
