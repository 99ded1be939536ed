import HeartwoodModel
import HeartwoodStore

/// How Core Data calls tables and columns, and how names stand in SQL.
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

  /// The column or the table of a property or an entity.
  static func plain(_ name: String) -> String { "Z" + name.uppercased() }

  /// The column that holds what entity number `entity` has under `name`, in a table of another entity.
  static func numbered(_ entity: Int, _ name: String) -> String { "Z\(entity)" + name.uppercased() }

  /// The column beside a to-one relationship that holds the number of the entity of the object there.
  static func entityColumn(_ destination: Int, _ name: String) -> String { "Z\(destination)_" + name.uppercased() }

  /// A table of a relationship between many and many, or a column of one.
  static func join(_ entity: Int, _ name: String) -> String { "Z_\(entity)" + name.uppercased() }

  /// The column that holds the place of what stands in the column `column` of a table of a relationship.
  static func joinOrder(_ column: String) -> String { orderPrefix + column.dropFirst("Z_".count) }

  /// SQLite compares names without regard to the case of ASCII letters.
  static func key(_ name: String) -> String {
    String(decoding: name.utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
  }

  /// The name as it stands in SQL: as it is, as Core Data writes it, or in quotation marks where it would not be one name.
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

  /// Whether `name` is `prefix`, a number, and `rest`, perhaps with the digits behind it that make names differ.
  static func hasForm(_ name: String, prefix: String, rest: String) -> Bool {
    let (name, prefix, rest) = (key(name), key(prefix), key(rest))
    guard name.hasPrefix(prefix) else { return false }
    let tail = name.dropFirst(prefix.count).drop(while: \.isASCIIDigit)
    guard tail.count < name.count - prefix.count, tail.hasPrefix(rest) else { return false }
    return tail.dropFirst(rest.count).allSatisfy(\.isASCIIDigit)
  }

  /// Whether `name` is `base`, perhaps with digits behind it.
  static func isNumbered(_ name: String, of base: String) -> Bool {
    let (name, base) = (key(name), key(base))
    return name.hasPrefix(base) && name.dropFirst(base.count).allSatisfy(\.isASCIIDigit)
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

/// Names that must differ from each other: the second of a name gets a 1, the next a 2.
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

/// What a record is called in a file: the number in `Z_PK`.
enum SQLiteKey {
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` for a reference that is no number.
  static func key(_ reference: ReferenceID, path: String, entity: String? = nil) throws(PersistenceError) -> Int64 {
    if case .integer(let key) = reference { return key }
    throw PersistenceError(
      .capabilityMissing,
      "SQLite calls records by numbers.",
      context: .init(path: path, storeType: .sqlite, entity: entity)
    )
  }
}
