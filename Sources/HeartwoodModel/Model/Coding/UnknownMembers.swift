public import HeartwoodFoundation
import Synchronization

extension ManagedObjectModel {
  /// Returns the members in the JSON of a model that are not known, so that ``init(encoded:)`` ignores them.
  ///
  /// In a model that is written by hand they are mistakes, such as `isOptional` for `optional`:
  ///
  ///     for path in try ManagedObjectModel.unknownMembers(inEncoded: data) { print(path) }
  ///     // entities[0 “ToDo”].properties[2 “memo”].isOptional
  ///
  /// - Returns: the paths of the members, in order. Elements of lists have their indexes, and their names if they have
  ///   any.
  /// - Throws: `DecodingError` if the data is not a model, or one of a newer format.
  public static func unknownMembers(inEncoded data: Data) throws -> [String] {
    guard let key = UnknownMembers.key else { return [] }
    let unknown = UnknownMembers()
    let decoder = JSONDecoder()
    decoder.userInfo[key] = unknown
    _ = try decoder.decode(ModelDocument.self, from: data)
    return unknown.paths
  }
}

extension Decoder {
  /// Returns the members of the object that is decoded. Those that are none of `keys` are noted if that was requested.
  func members<Key: CodingKey>(of keys: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if let key = UnknownMembers.key, let unknown = userInfo[key] as? UnknownMembers {
      try unknown.note(membersOf: self) { Key(stringValue: $0) != nil }
    }
    return try container(keyedBy: keys)
  }
}

/// The members in the JSON of a model that are not known, while it is decoded.
///
/// A decoder hands the same instance to all parts of the model, in the order of the lists.
private final class UnknownMembers: Sendable {
  static let key = CodingUserInfoKey(rawValue: "org.heartwood.unknownMembers")

  private struct Member: CodingKey {
    static let name = Member(stringValue: "name")

    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private struct Found {
    /// The names of the objects in lists, by their paths.
    var names: [String: String] = [:]
    var paths: [String] = []
  }

  private let found = Mutex(Found())

  var paths: [String] { found.withLock { $0.paths } }

  func note(membersOf decoder: any Decoder, isKnown: (String) -> Bool) throws {
    let members = try decoder.container(keyedBy: Member.self)
    // try?: if the name is no string, decoding the object reports it.
    let name = try? members.decodeIfPresent(String.self, forKey: .name)
    let unknown = members.allKeys.map(\.stringValue).filter { !isKnown($0) }.sorted()
    found.withLock { found in
      if let name { found.names[Self.path(decoder.codingPath) { _ in nil }] = name }
      let owner = Self.path(decoder.codingPath) { found.names[$0] }
      found.paths += unknown.map { owner.isEmpty ? $0 : "\(owner).\($0)" }
    }
  }

  /// Returns a path such as `entities[0 “ToDo”]`.
  ///
  /// - Parameter name: returns the name of the element at a path that has no names.
  private static func path(_ keys: [any CodingKey], name: (String) -> String?) -> String {
    var (path, plain) = ("", "")
    for key in keys {
      guard let index = key.intValue else {
        path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
        plain += plain.isEmpty ? key.stringValue : ".\(key.stringValue)"
        continue
      }
      plain += "[\(index)]"
      path += "[\(index)\(name(plain).map { " “\($0)”" } ?? "")]"
    }
    return path
  }
}
