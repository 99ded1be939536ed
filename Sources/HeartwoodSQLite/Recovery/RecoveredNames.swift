import HeartwoodModel

/// Recovers the spelling of properties whose columns are in upper case.
///
/// The file shows it if it has an index whose name the author chose, such as `Z_Note_byCreationDate`, or a constraint,
/// `Z_Note_UNIQUE_userName`. A relationship may also be named after an entity. Other names are in lower case.
struct RecoveredNames {
  private let entityNames: [String]
  private var known: [String: String] = [:]
  /// The minimum length of a part of a name: a shorter one may occur by chance.
  private static let shortestHint = 3

  init(_ tables: [TableSurvey], entityNames: [String]) {
    // The longest names come first: “TagGroup” is more specific than “Group”.
    self.entityNames = entityNames.filter { $0.count > Self.shortestHint }.sorted { $0.count > $1.count }
    for table in tables {
      for index in table.indexes { learn(from: index, entityNames) }
    }
  }

  /// Returns the name of a property for the rest of its column's name after the Z.
  func name(_ rest: String) -> String {
    if let name = known[SQLiteName.key(rest)] { return name }
    let small = rest.lowercased()
    // Some letters have no upper case of their own.
    guard SQLiteName.key(small.uppercased()) == SQLiteName.key(rest) else { return rest }
    guard let entity = entityNames.first(where: { small.hasSuffix($0.lowercased()) }) else { return small }
    let head = small.dropLast(entity.count)
    return head.isEmpty ? Self.decapitalized(entity) : head + entity
  }

  static func decapitalized(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

  private mutating func learn(from index: TableSurvey.Index, _ entities: [String]) {
    let rests = index.columns.map { String($0.dropFirst()) }
    guard let entity = entities.filter({ index.name.hasPrefix("Z_\($0)_") }).max(by: { $0.count < $1.count }) else {
      return
    }
    var text = index.name.dropFirst("Z_\(entity)_".count)
    if index.isUnique, text.hasPrefix("UNIQUE_") {
      text = text.dropFirst("UNIQUE_".count)
      guard SQLiteName.key(String(text)) == SQLiteName.key(rests.joined(separator: "_")) else { return }
      for rest in rests {
        known[SQLiteName.key(rest)] = String(text.prefix(rest.count))
        text = text.dropFirst(rest.count + 1)
      }
      return
    }
    for rest in rests where rest.count >= Self.shortestHint { learn(rest, from: String(text)) }
  }

  /// Takes the spelling of a name from that of an index, such as “CreationDate” from “byCreationDate”.
  private mutating func learn(_ rest: String, from text: String) {
    let key = SQLiteName.key(rest)
    guard known[key] == nil, let range = text.asciiRange(of: rest) else { return }
    let found = text[range]
    let isWhole = range.lowerBound == text.startIndex
    guard isWhole || found.first?.isUppercase == true || text[..<range.lowerBound].last == "_" else { return }
    guard found.contains(where: \.isLowercase) else { return }
    known[key] = isWhole ? String(found) : Self.decapitalized(String(found))
  }
}

extension String {
  /// Returns the range of `other` in the text, ignoring the case of ASCII letters.
  fileprivate func asciiRange(of other: String) -> Range<Index>? {
    let (text, part) = (Array(SQLiteName.key(self).utf8), Array(SQLiteName.key(other).utf8))
    guard !part.isEmpty, part.count <= text.count else { return nil }
    for start in 0...(text.count - part.count) where text[start..<(start + part.count)].elementsEqual(part) {
      let lower = utf8.index(startIndex, offsetBy: start)
      return lower..<utf8.index(lower, offsetBy: part.count)
    }
    return nil
  }
}
