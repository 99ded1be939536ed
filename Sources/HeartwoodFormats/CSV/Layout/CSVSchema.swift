import HeartwoodModel
import HeartwoodStore

/// The columns of a file, found in an entity and checked.
struct CSVSchema: Sendable {
  /// What a column holds.
  enum Content: Sendable, Hashable {
    case reference
    case ignored
    case attribute(ordinal: Int, AttributeType)
    case relationship(ordinal: Int, isToMany: Bool)
  }

  struct Column: Sendable {
    let content: Content
    /// What a header row calls the column; nil where it may call it anything.
    let title: String?
    /// The name of the property, for error texts.
    let property: String?
  }

  let entity: EntityDescription
  let columns: [Column]
  let layout: CSVStore.Layout
  /// The column of the reference.
  let referenceColumn: Int
  /// The properties that no column holds: those that live in memory only.
  let absentOrdinals: [Int]

  init(_ setup: StoreSetup) throws(PersistenceError) {
    let check = CSVLayoutCheck(path: setup.path, entity: try Self.concreteEntity(setup))
    let layout = setup.options[.csvLayout] ?? CSVStore.Layout()
    entity = check.entity
    self.layout = layout
    try check.check(layout.dialect)
    columns = try check.columns(layout.columns ?? Self.derivedColumns(check.entity), model: setup.model)
    referenceColumn = columns.firstIndex { $0.content == .reference } ?? 0
    absentOrdinals = check.entity.properties.indices.filter { check.entity.properties[$0].isTransient }
  }

  private static func concreteEntity(_ setup: StoreSetup) throws(PersistenceError) -> EntityDescription {
    let concrete = setup.entities.filter { !$0.isAbstract }
    guard let entity = concrete.first, concrete.count == 1 else {
      throw PersistenceError(
        .capabilityMissing,
        "A CSV file keeps the records of one entity, and there are \(concrete.count).",
        recovery: "Choose a configuration with one entity that is not abstract, or another type of store.",
        context: .init(path: setup.path, storeType: .csv)
      )
    }
    return entity
  }

  private static func derivedColumns(_ entity: EntityDescription) -> [CSVStore.Column] {
    guard let names = entity.userInfo[CSVStore.Layout.userInfoKey] else {
      return entity.properties.filter { !$0.isTransient }.map { .property($0.name) } + [.reference()]
    }
    return names.split(separator: ",", omittingEmptySubsequences: false).map { name in
      let name = String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      return name == CSVStore.Layout.referenceName ? .reference() : .property(name)
    }
  }
}
