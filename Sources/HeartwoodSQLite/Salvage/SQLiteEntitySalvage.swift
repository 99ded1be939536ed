import GRDB
import HeartwoodModel
import HeartwoodStore

/// Reads the readable rows of one entity: ranges of keys that cannot be read are halved, down to single rows, and the
/// properties of these are read one by one.
struct SQLiteEntitySalvage {
  /// The maximum number of failures: after that, the rest of the unreadable rows is left out without being examined.
  private static let mostFailures = 1_000_000
  /// The number of keys that are tried if it is unknown how many there are.
  private static let guessedKeyCount: Int64 = 1 << 20

  private let placement: EntityPlacement
  private let schema: SQLiteSchema
  private let path: String
  private let db: Database
  private let salvage: StoreSalvage
  private var entity: EntityDescription { placement.entity }
  /// The readers of the rows, by the properties that are left out.
  private var readers: [Set<Int>: RecordReader] = [:]
  /// The properties of which no value can be read.
  private var unreadable: Set<Int> = []
  private var groups: [RowGroup] = []
  private var failureCount = 0
  /// The keys of rows that cannot be read, if they exist, with the first reason.
  private var lostRanges: [(keys: ClosedRange<Int64>, error: any Error)] = []
  /// The keys of rows that have been reported.
  private var reportedKeys: Set<Int64> = []

  init(
    _ placement: EntityPlacement,
    _ schema: SQLiteSchema,
    path: String,
    _ db: Database,
    into salvage: StoreSalvage
  ) {
    self.placement = placement
    self.schema = schema
    self.path = path
    self.db = db
    self.salvage = salvage
  }

  /// Returns the records, in as few groups as possible.
  mutating func records() throws -> [RowGroup] {
    noteDerivedRelationships()
    do {
      groups = try reader(without: []).groups(.min ... .max, db)
    } catch {
      try readByParts(error)
    }
    noteRowsOfNoEntity()
    var rows = RowGroupListBuilder(entity: entity)
    for group in groups { rows.append(group) }
    return rows.finish()
  }

  /// Notes the to-many relationships without a table of their own, which are derived from the to-one relationships of
  /// other records.
  private func noteDerivedRelationships() {
    for (ordinal, property) in placement.properties.enumerated() {
      if case .toMany(let place) = property, !place.ownsColumn { salvage.noteDerived(ordinal, of: entity) }
    }
  }

  private mutating func readByParts(_ error: any Error) throws {
    guard canRead(without: Set(entity.properties.indices), .min ... .min) else {
      return note(.init(.records, located(error), entity: entity.name, count: nil))
    }
    leaveOutUnreadableProperties()
    var ranges = [keyRange]
    while let range = ranges.popLast() {
      do {
        groups += try reader(without: unreadable).groups(range, db)
      } catch {
        failureCount += 1
        if range.lowerBound == range.upperBound {
          readRow(range.lowerBound, error)
        } else if failureCount > Self.mostFailures {
          lostRanges.append((range, error))
        } else {
          let span = UInt64(bitPattern: range.upperBound &- range.lowerBound)
          let middle = range.lowerBound &+ Int64(bitPattern: span / 2)
          ranges += [(middle + 1)...range.upperBound, range.lowerBound...middle]
        }
      }
    }
    noteLostRows()
  }

  private func note(_ loss: SalvageReport.Loss) { salvage.note(loss) }

  private func located(_ error: any Error) -> PersistenceError { SQLiteFailure.error(error, path: path) }
}

// MARK: Properties

extension SQLiteEntitySalvage {
  private mutating func reader(without properties: Set<Int>) throws -> RecordReader {
    if let reader = readers[properties] { return reader }
    let places = placement.properties.enumerated().map { properties.contains($0.offset) ? nil : $0.element }
    let partial = EntityPlacement(
      entity: entity,
      number: placement.number,
      rootName: placement.rootName,
      rootNumber: placement.rootNumber,
      tableName: placement.tableName,
      properties: places
    )
    let reader = try RecordReader(partial, schema: schema, path: path, missingFiles: nil)
    readers[properties] = reader
    return reader
  }

  private mutating func canRead(without properties: Set<Int>, _ keys: ClosedRange<Int64>) -> Bool {
    (try? reader(without: properties).groups(keys, db)) != nil
  }

  /// Finds the properties that have no column in the file, and relationships whose index is damaged and that the other
  /// end has too.
  private mutating func leaveOutUnreadableProperties() {
    let all = Set(entity.properties.indices)
    for (ordinal, property) in placement.properties.enumerated() {
      guard let property else { continue }
      let others = all.subtracting([ordinal])
      if !canRead(without: others, .min ... .min) {
        unreadable.insert(ordinal)
        note(
          .init(
            .values,
            entity: entity.name,
            property: entity.properties[ordinal].name,
            count: nil,
            reason: "The file has no place any more for the values of the property."
          )
        )
      } else if case .toMany(let place) = property, !place.ownsColumn, !canRead(without: others, .min ... .max),
        canRead(without: all, .min ... .max)
      {
        unreadable.insert(ordinal)
        note(
          .init(
            .fileParts,
            entity: entity.name,
            property: entity.properties[ordinal].name,
            count: 0,
            reason: "The relationship cannot be read from this end. What the other end says was taken."
          )
        )
      }
    }
  }
}

// MARK: Rows

extension SQLiteEntitySalvage {
  /// Reads one row, without the values that cannot be read.
  private mutating func readRow(_ key: Int64, _ error: any Error) {
    var (left, error) = (unreadable, error)
    var faults: [(ordinal: Int, error: any Error)] = []
    while let name = (error as? PersistenceError)?.context.property, let ordinal = entity.ordinal(ofProperty: name),
      left.insert(ordinal).inserted
    {
      faults.append((ordinal, error))
      do {
        return take(key, try reader(without: left).groups(key...key, db), faults)
      } catch let next {
        error = next
      }
    }
    readValueByValue(key, error)
  }

  /// Reads a row that SQLite cannot read as a whole: a page with the rest of a long value may be damaged.
  private mutating func readValueByValue(_ key: Int64, _ error: any Error) {
    let all = Set(entity.properties.indices)
    guard canRead(without: all, key...key) else { return lose(key, error) }
    var faults: [(ordinal: Int, error: any Error)] = []
    for (ordinal, property) in placement.properties.enumerated() where property != nil && !unreadable.contains(ordinal)
    {
      do {
        _ = try reader(without: all.subtracting([ordinal])).groups(key...key, db)
      } catch {
        faults.append((ordinal, error))
      }
    }
    do {
      let left = unreadable.union(faults.map(\.ordinal))
      take(key, try reader(without: left).groups(key...key, db), faults)
    } catch {
      lose(key, error)
    }
  }

  private mutating func take(_ key: Int64, _ row: [RowGroup], _ faults: [(ordinal: Int, error: any Error)]) {
    groups += row
    guard !row.isEmpty else { return }
    for fault in faults {
      var loss = SalvageReport.Loss(
        .values,
        located(fault.error),
        entity: entity.name,
        references: [.integer(key)],
        count: 1
      )
      loss.property = entity.properties[fault.ordinal].name
      note(loss)
    }
  }

  private mutating func lose(_ key: Int64, _ error: any Error) {
    if let last = lostRanges.last, last.keys.upperBound < key, last.keys.upperBound + 1 == key {
      lostRanges[lostRanges.count - 1].keys = last.keys.lowerBound...key
    } else {
      lostRanges.append((key...key, error))
    }
  }

  /// Reports the rows that cannot be read: one by one if an index still contains them, or else the ranges of their
  /// keys.
  private mutating func noteLostRows() {
    let known = indexedKeys
    for (keys, error) in lostRanges {
      let lost = known.map { $0.filter(keys.contains).sorted() }
      if let lost, lost.isEmpty { continue }
      reportedKeys.formUnion(lost ?? [])
      var loss = SalvageReport.Loss(
        .records,
        located(error),
        entity: entity.name,
        references: lost?.map { .integer($0) } ?? [],
        count: lost?.count
      )
      loss.reason =
        "Rows of the table \(placement.tableName) with keys from \(keys.lowerBound) to \(keys.upperBound) cannot be read. \(loss.reason)"
      note(loss)
    }
  }

  /// Reports rows of an entity that the model lacks.
  private func noteRowsOfNoEntity() {
    let others = schema.entities.compactMap(\.self).filter { $0.tableName == placement.tableName }
    // This is done once for each table.
    guard others.first(where: { !$0.entity.isAbstract })?.number == placement.number else { return }
    let numbers = others.map { "\($0.number)" }.joined(separator: ", ")
    let query =
      "SELECT Z_PK FROM \(SQLiteName.quoted(placement.tableName)) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers))"
    // Unreadable rows have been reported already.
    guard let all = try? Int64.fetchAll(db, sql: query) else { return }
    let keys = all.filter { !reportedKeys.contains($0) }
    if keys.isEmpty { return }
    note(
      .init(
        .records,
        references: keys.map { .integer($0) },
        count: keys.count,
        reason: "Rows of the table \(placement.tableName) are of no entity that the model has."
      )
    )
  }
}

// MARK: Keys

extension SQLiteEntitySalvage {
  /// The range that contains all keys, as far as the file shows it.
  private var keyRange: ClosedRange<Int64> {
    let table = SQLiteName.quoted(placement.tableName)
    let least = number("SELECT min(Z_PK) FROM \(table)") ?? min(1, indexedKeys?.min() ?? 1)
    if let greatest = number("SELECT max(Z_PK) FROM \(table)") { return least...max(least, greatest) }
    let stated = number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(placement.rootNumber)")
    let indexed = indexedKeys?.max()
    let greatest = max(stated ?? 0, indexed ?? 0)
    return least...max(least, greatest > 0 ? greatest : Self.guessedKeyCount)
  }

  private func number(_ query: String) -> Int64? {
    // If this cannot be read, another source is used.
    (try? Row.fetchOne(db, sql: query)).flatMap { row in row.flatMap { Int64.fromDatabaseValue($0[0]) } }
  }

  /// The keys in an index of the table, if the table has only rows of this entity and one of its indexes can be read.
  private var indexedKeys: Set<Int64>? {
    guard schema.isAlone(placement),
      let names = try? String.fetchAll(
        db,
        sql: "SELECT name FROM pragma_index_list(?)",
        arguments: [placement.tableName]
      )
    else { return nil }
    let table = SQLiteName.quoted(placement.tableName)
    for name in names {
      let query = "SELECT Z_PK FROM \(table) INDEXED BY \(SQLiteName.quoted(name))"
      if let keys = try? Int64.fetchAll(db, sql: query) { return Set(keys) }
    }
    return nil
  }
}
