import HeartwoodModel
import HeartwoodStore

/// The names that Core Data gives to tables and columns, and their form in SQL.
enum SQLiteName {
  static let primaryKey = "Z_PK"
  static let entity = "Z_ENT"
  /// The column that counts the versions of a row.
  static let version = "Z_OPT"
  static let primaryKeyTable = "Z_PRIMARYKEY"
  static let metadataTable = "Z_METADATA"
  static let modelCacheTable = "Z_MODELCACHE"
  static let orderPrefix = "Z_FOK_"
  /// The column of the other end in the table of a relationship that is its own inverse.
  static let reflexive = "REFLEXIVE"

  /// Returns the name of the column of a property, or of the table of an entity.
  static func plain(_ name: String) -> String { "Z" + name.uppercased() }

  /// Returns the name of the column for a property `name` of the entity with number `entity`, in a table of another
  /// entity.
  static func numbered(_ entity: Int, _ name: String) -> String { "Z\(entity)" + name.uppercased() }

  /// Returns the name of the column beside a to-one relationship that contains the number of the destination's entity.
  static func entityColumn(_ destination: Int, _ name: String) -> String { "Z\(destination)_" + name.uppercased() }

  /// Returns the name of the table of a many-to-many relationship, or of one of its columns.
  static func join(_ entity: Int, _ name: String) -> String { "Z_\(entity)" + name.uppercased() }

  /// Returns the name of the column that contains the position for the column `column`, in the table of a relationship.
  static func joinOrder(_ column: String) -> String { orderPrefix + column.dropFirst("Z_".count) }

  /// Returns a key for comparisons: SQLite compares names without regard to the case of ASCII letters.
  static func key(_ name: String) -> String {
    String(decoding: name.utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
  }

  /// Returns the name for use in SQL: unchanged, as Core Data writes it, or in quotation marks if necessary.
  static func quoted(_ name: String) -> String {
    let isPlain =
      name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
      } && name.utf8.first.map { !(0x30...0x39).contains($0) } == true
    return isPlain
      ? name : "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  /// Returns whether `name` consists of `prefix`, a number and `rest`, optionally followed by the digits that make
  /// names unique.
  static func hasForm(_ name: String, prefix: String, rest: String) -> Bool {
    let (name, prefix, rest) = (key(name), key(prefix), key(rest))
    guard name.hasPrefix(prefix) else { return false }
    let tail = name.dropFirst(prefix.count).drop(while: \.isASCIIDigit)
    guard tail.count < name.count - prefix.count, tail.hasPrefix(rest) else { return false }
    return tail.dropFirst(rest.count).allSatisfy(\.isASCIIDigit)
  }

  /// Returns whether `name` is `base`, optionally followed by digits.
  static func isNumbered(_ name: String, of base: String) -> Bool {
    let (name, base) = (key(name), key(base))
    return name.hasPrefix(base) && name.dropFirst(base.count).allSatisfy(\.isASCIIDigit)
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

/// Generates unique names: the second occurrence of a name gets a 1, the next a 2.
struct UniqueNames {
  private var taken: Set<String>

  init(reserved: [String] = []) {
    taken = Set(reserved.map(SQLiteName.key))
  }

  mutating func unique(_ name: String) -> String {
    var candidate = name
    var number = 0
    while !taken.insert(SQLiteName.key(candidate)).inserted {
      number += 1
      candidate = name + String(number)
    }
    return candidate
  }
}

// MARK: SQLiteKey

/// The key of a record in a file: the number in `Z_PK`.
enum SQLiteKey {
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` for a reference that is not a number.
  static func key(_ reference: ReferenceID, path: String, entity: String? = nil) throws(PersistenceError) -> Int64 {
    if case .integer(let key) = reference { return key }
    throw PersistenceError(
      .capabilityMissing,
      "The references of an SQLite store are numbers.",
      context: .init(path: path, storeType: .sqlite, entity: entity)
    )
  }
}
