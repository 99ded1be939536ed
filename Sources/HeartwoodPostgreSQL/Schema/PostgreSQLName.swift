/// Names of schemas, tables and columns.
enum PostgreSQLName {
  /// The number of bytes after which PostgreSQL truncates names.
  static let greatestLength = PostgreSQLLocation.greatestNameLength

  /// Returns the name in quotes, for use in statements, so that no name is parsed as SQL.
  static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  /// Returns a text as a quoted literal, for statements that take no parameters.
  static func literal(_ text: String) -> String {
    // If the text contains a backslash, E'' determines how it is read, whatever the server's settings are.
    "E'\(text.replacing("\\", with: "\\\\").replacing("'", with: "''"))'"
  }

  /// Returns the name in the form that is common in SQL: `ToDoItem` becomes `to_do_item`, and `URLString` becomes
  /// `url_string`.
  static func snakeCase(_ name: String) -> String {
    var result = ""
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      guard character.isUppercase else {
        result += character == "." || character == " " ? "_" : String(character)
        continue
      }
      let follows =
        index > 0 && (characters[index - 1].isLowercase || characters[index - 1].isNumber)
      let endsRun =
        index > 0 && characters[index - 1].isUppercase && index + 1 < characters.count
        && characters[index + 1].isLowercase
      if follows || endsRun { result += "_" }
      result += character.lowercased()
    }
    return result
  }

  /// Returns the name itself, or a shorter one that is different for different names.
  static func shortened(_ name: String, length: Int = greatestLength) -> String {
    if name.utf8.count <= length { return name }
    let mark = "_" + String(hash(name), radix: 36)
    var prefix = ""
    for character in name {
      guard prefix.utf8.count + character.utf8.count <= length - mark.utf8.count else { break }
      prefix.append(character)
    }
    return prefix + mark
  }

  /// Returns a hash that is the same for the same text in every process: FNV-1a.
  static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(into: StableHash()) { $0.combine(UInt64($1)) }.value
  }
}

/// A hash that is the same for the same numbers in every process: FNV-1a.
struct StableHash {
  private(set) var value: UInt64 = 14_695_981_039_346_656_037

  mutating func combine(_ number: UInt64) {
    value = (value ^ number) &* 1_099_511_628_211
  }
}

/// Generates names that are not taken yet.
struct NameSpace {
  private var taken: Set<String>

  init(reserved: Set<String>) {
    taken = reserved
  }

  /// Returns the first of `candidates` that is free, or the last one with a number.
  mutating func name(_ candidates: [String]) -> String {
    let names = candidates.filter { !$0.isEmpty }.map { PostgreSQLName.shortened($0) }
    for name in names where taken.insert(name).inserted { return name }
    let base = names.last ?? "unnamed"
    var number = 2
    while true {
      let suffix = "_\(number)"
      let name =
        PostgreSQLName.shortened(base, length: PostgreSQLName.greatestLength - suffix.utf8.count)
        + suffix
      if taken.insert(name).inserted { return name }
      number += 1
    }
  }

  /// The names of the columns that every table has, and those that PostgreSQL reserves.
  static var ofColumns: NameSpace {
    NameSpace(
      reserved: ["id", "version", "entity", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"]
    )
  }
}
