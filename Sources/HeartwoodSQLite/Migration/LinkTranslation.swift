import HeartwoodModel
import HeartwoodStore

/// What a relationship leads to, in the numbers that files have for entities.
struct LinkTranslation {
  /// The numbers of the entities that the old relationship may lead to, and of what becomes of them.
  private let numbers: [(old: Int, new: Int)]
  /// The number of the entity that the old relationship is declared to lead to.
  private let declaredNumber: Int
  private let memberTable: String
  private let name: String

  /// - Parameters:
  ///   - ordinal: that of the new relationship.
  ///   - source: that of the old one.
  /// - Throws: ``MigrationObstacle`` where records may be gone that the relationship led to.
  init(
    _ plan: EntityPlan,
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
    else { throw MigrationObstacle("the store does not keep what \(name) leads to") }
    declaredNumber = declared.number
    memberTable = destination.tableName
    let allowed = Set(new.model.concreteEntities(under: newTarget).map(\.ordinal))
    var numbers: [(old: Int, new: Int)] = []
    for entity in old.model.concreteEntities(under: oldTarget) {
      guard let placement = old.placement(of: entity) else { continue }
      guard let ordinal = destinationOrdinals[entity.ordinal], allowed.contains(ordinal),
        let successor = new.entities[ordinal]
      else { throw MigrationObstacle("\(name) may lead to records that are gone") }
      numbers.append((placement.number, successor.number))
    }
    self.numbers = numbers
  }

  /// The number of the entity that the old column leads to, in the new file; nothing where the row tells none that there is.
  func entityNumber(_ place: ToOnePlacement) throws(MigrationObstacle) -> String {
    guard let first = numbers.first else { return "NULL" }
    if numbers.count == 1 { return "\(first.new)" }
    guard let column = place.entityColumn else {
      throw MigrationObstacle("the file does not tell which entity \(name) leads to")
    }
    let cases = numbers.map { "WHEN \($0.old) THEN \($0.new)" }
    return "CASE ifnull(\(SQLiteName.quoted(column)), \(declaredNumber)) \(cases.joined(separator: " ")) END"
  }

  /// The one record of each that is left of many.
  func narrowing(
    to place: ToOnePlacement,
    _ source: PropertyPlacement?,
    of translation: EntityTranslation
  ) throws(MigrationObstacle) -> NarrowingTranslation {
    guard place.entityColumn == nil, place.orderColumn == nil else {
      throw MigrationObstacle("\(name) leads to one object from now on, of one of several entities or in an order")
    }
    let pairs: String
    switch source {
    case .toMany(let old):
      let column = SQLiteName.quoted(old.column)
      pairs = "SELECT \(column) AS owner, Z_PK AS member FROM \(SQLFragment.old(old.table)) WHERE \(column) IS NOT NULL"
    case .join(let old) where !old.isReflexive:
      let (own, other) = (SQLiteName.quoted(old.ownColumn), SQLiteName.quoted(old.otherColumn))
      pairs = "SELECT \(own) AS owner, \(other) AS member FROM \(SQLFragment.old(old.table))"
    default: throw MigrationObstacle("\(name) leads to one object from now on, and was its own inverse")
    }
    return NarrowingTranslation(
      pairs: pairs,
      column: place.column,
      destination: translation.destination,
      memberTable: memberTable
    )
  }
}
