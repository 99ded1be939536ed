import GRDB
import HeartwoodModel
import HeartwoodStore

/// Translates the values of an attribute in SQL.
struct AttributeTranslation {
  private let ordinal: Int
  private let old: AttributeDescription
  private let new: AttributeDescription
  /// The old column, as an SQL expression.
  private let column: String
  private let oldStorage: AttributeStorage
  private let newStorage: AttributeStorage
  private let stored: StoredValue

  /// - Parameter ordinal: the ordinal of the new attribute.
  /// - Throws: ``MigrationObstacle`` if the form of the values changes in a way that SQL does not reproduce.
  init(
    _ old: AttributeDescription,
    in oldPlace: AttributePlacement,
    _ new: AttributeDescription,
    in newPlace: AttributePlacement,
    ordinal: Int,
    _ stored: StoredValue
  ) throws(MigrationObstacle) {
    self.ordinal = ordinal
    self.old = old
    self.new = new
    column = SQLiteName.quoted(oldPlace.column)
    (oldStorage, newStorage) = (oldPlace.storage, newPlace.storage)
    self.stored = stored
    guard isSameForm || convertsInSQL else {
      throw MigrationObstacle(
        "values of \(new.name) become of another form (\(old.type.rawValue) → \(new.type.rawValue))"
      )
    }
    if StoredValue.isExternal(newStorage), !filling.isNull {
      throw MigrationObstacle("values of \(new.name), which are in files, get a default value")
    }
  }

  /// Returns a column with the same value for all records.
  static func constant(
    _ value: PropertyValue,
    _ place: AttributePlacement,
    _ stored: StoredValue
  ) throws -> SQLFragment {
    if StoredValue.isExternal(place.storage), !value.isNull {
      throw MigrationObstacle("data in files get a default value")
    }
    return argument(try stored.value(value, place.storage))
  }

  /// Returns a value as an argument.
  private static func argument(_ value: (any DatabaseValueConvertible)?) -> SQLFragment {
    let argument = StoredValue.argument(value)
    return SQLFragment(argument.place, [argument.value])
  }

  /// The value for records without one.
  private var filling: PropertyValue { new.isOptional ? .null : new.defaultValue }

  private var isSameForm: Bool {
    let areSame = old.type == new.type || [old.type, new.type].allSatisfy { $0 == .binary || $0 == .transformable }
    return areSame && StoredValue.isExternal(oldStorage) == StoredValue.isExternal(newStorage)
  }

  private var convertsInSQL: Bool {
    switch new.type {
    case .integer16, .integer32, .integer64, .boolean, .double: Self.isWhole(old.type)
    case .string: Self.isWhole(old.type) && old.type != .boolean
    default: false
    }
  }

  private static func isWhole(_ type: AttributeType) -> Bool { type.integerRange != nil || type == .boolean }
}

extension AttributeTranslation {
  /// Returns the value of the new column.
  func value() throws -> SQLFragment {
    let filler = Self.argument(try stored.value(filling, newStorage))
    if isSameForm {
      return filling.isNull ? SQLFragment(column) : SQLFragment("ifnull(\(column), \(filler.text))", filler.arguments)
    }
    let substitute = Self.argument(try stored.value(new.defaultValue, newStorage))
    let converted = new.type == .string ? "CAST(\(column) AS TEXT)" : column
    return SQLFragment(
      "CASE WHEN \(column) IS NULL THEN \(filler.text) WHEN \(fits) THEN \(converted) ELSE \(substitute.text) END",
      filler.arguments + substitute.arguments
    )
  }

  /// The rows that the report mentions.
  var tallies: [EntityTranslation.Tally] {
    var tallies: [EntityTranslation.Tally] = []
    if !isSameForm {
      tallies.append(.init(kind: .converted, ordinal: ordinal, condition: "\(column) IS NOT NULL AND \(fits)"))
    }
    if !filling.isNull { tallies.append(.init(kind: .filled, ordinal: ordinal, condition: "\(column) IS NULL")) }
    if !isSameForm {
      tallies.append(.init(kind: .unfit, ordinal: ordinal, condition: "\(column) IS NOT NULL AND NOT (\(fits))"))
    }
    return tallies
  }

  /// A condition in SQL that is true if an integer can be represented in the new type.
  private var fits: String {
    if let range = ValueAnomaly.range(new.type) {
      return "\(column) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
    }
    return "\(column) IS NOT NULL"
  }

  /// A condition that is true for a row whose value in the column reading would refuse or change.
  var anomaly: String { ValueAnomaly.condition(column, old.type, oldStorage) }
}

// MARK: LinkTranslation

/// Translates the destinations of a relationship, by the numbers that the files have for entities.
struct LinkTranslation {
  /// The numbers of the possible destination entities of the old relationship, and of the new entities for them.
  private let numbers: [(old: Int, new: Int)]
  /// The number of the declared destination entity of the old relationship.
  private let declaredNumber: Int
  private let memberTable: String
  private let name: String

  /// - Parameters:
  ///   - ordinal: the ordinal of the new relationship.
  ///   - source: the ordinal of the old one.
  /// - Throws: ``MigrationObstacle`` if records that the relationship referred to may be gone.
  init(
    _ plan: EntityMigration,
    _ ordinal: Int,
    _ source: Int,
    _ old: SQLiteSchema,
    _ new: SQLiteSchema,
    _ destinationOrdinals: [Int?]
  ) throws(MigrationObstacle) {
    name = plan.destination.properties[ordinal].name
    guard let oldTarget = plan.source.relationshipTargets[source].map({ old.model.entities[$0.entityOrdinal] }),
      let newTarget = plan.destination.relationshipTargets[ordinal].map({ new.model.entities[$0.entityOrdinal] }),
      let declared = old.placement(of: oldTarget), let destination = new.placement(of: newTarget)
    else { throw MigrationObstacle("the store does not keep what \(name) refers to") }
    declaredNumber = declared.number
    memberTable = destination.tableName
    let allowed = Set(new.model.concreteEntities(under: newTarget).map(\.ordinal))
    var numbers: [(old: Int, new: Int)] = []
    for entity in old.model.concreteEntities(under: oldTarget) {
      guard let placement = old.placement(of: entity) else { continue }
      guard let ordinal = destinationOrdinals[entity.ordinal], allowed.contains(ordinal),
        let successor = new.entities[ordinal]
      else { throw MigrationObstacle("\(name) may refer to records that are gone") }
      numbers.append((placement.number, successor.number))
    }
    self.numbers = numbers
  }

  /// Returns the number of the destination entity in the new file; NULL if the row does not contain the number of a
  /// possible one.
  func entityNumber(_ place: ToOnePlacement) throws(MigrationObstacle) -> String {
    guard let first = numbers.first else { return "NULL" }
    if numbers.count == 1 { return "\(first.new)" }
    guard let column = place.entityColumn else {
      throw MigrationObstacle("the file does not contain the entity to which \(name) refers")
    }
    let cases = numbers.map { "WHEN \($0.old) THEN \($0.new)" }
    return "CASE ifnull(\(SQLiteName.quoted(column)), \(declaredNumber)) \(cases.joined(separator: " ")) END"
  }

  /// Returns the translation to one record for each owner, of the many it had.
  func narrowing(
    to place: ToOnePlacement,
    _ source: PropertyPlacement?,
    of translation: EntityTranslation
  ) throws(MigrationObstacle) -> NarrowingTranslation {
    guard place.entityColumn == nil, place.orderColumn == nil else {
      throw MigrationObstacle(
        "\(name) becomes a to-one relationship, to one of several entities or from an ordered one"
      )
    }
    let pairs: String
    switch source {
    case .toMany(let old):
      let column = SQLiteName.quoted(old.column)
      pairs = "SELECT \(column) AS owner, Z_PK AS member FROM \(SQLFragment.old(old.table)) WHERE \(column) IS NOT NULL"
    case .join(let old) where !old.isReflexive:
      let (own, other) = (SQLiteName.quoted(old.ownColumn), SQLiteName.quoted(old.otherColumn))
      pairs = "SELECT \(own) AS owner, \(other) AS member FROM \(SQLFragment.old(old.table))"
    default: throw MigrationObstacle("\(name) becomes a to-one relationship, and was its own inverse")
    }
    return NarrowingTranslation(
      pairs: pairs,
      column: place.column,
      destination: translation.destination,
      memberTable: memberTable
    )
  }
}
