import HeartwoodModel
import HeartwoodStore

/// The columns of a file, derived from an entity and checked.
struct CSVSchema: Sendable {
  /// The content of a column.
  enum Content: Sendable, Hashable {
    case reference
    case ignored
    case attribute(ordinal: Int, AttributeType)
    case relationship(ordinal: Int, isToMany: Bool)
  }

  struct Column: Sendable {
    let content: Content
    /// The title of the column in a header row; nil if any title is accepted.
    let title: String?
    /// The name of the property, for error messages.
    let property: String?
  }

  let entity: EntityDescription
  let columns: [Column]
  let layout: CSVStore.Layout
  /// The column of the reference.
  let referenceColumn: Int
  /// The properties without a column: those that exist in memory only.
  let absentOrdinals: [Int]

  init(_ setup: StoreSetup) throws(PersistenceError) {
    let check = CSVLayoutCheck(path: setup.path, entity: try Self.concreteEntity(setup))
    let layout = setup.options[.csvLayout]
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

// MARK: CSVLayoutCheck

/// Checks that a layout fits an entity.
struct CSVLayoutCheck {
  let path: String?
  let entity: EntityDescription

  func columns(
    _ columns: [CSVStore.Column],
    model: ManagedObjectModel
  ) throws(PersistenceError) -> [CSVSchema.Column] {
    var resolved: [CSVSchema.Column] = []
    for column in columns { resolved.append(try resolve(column, model: model)) }
    try checkOnce(columns)
    try checkComplete(columns)
    return resolved
  }

  private func resolve(
    _ column: CSVStore.Column,
    model: ManagedObjectModel
  ) throws(PersistenceError) -> CSVSchema.Column {
    switch column.content {
    case .ignored: return CSVSchema.Column(content: .ignored, title: column.title, property: nil)
    case .reference:
      let title = column.title ?? CSVStore.Layout.referenceName
      return CSVSchema.Column(content: .reference, title: title, property: nil)
    case .property(let name):
      guard let ordinal = entity.ordinal(ofProperty: name) else {
        throw fault(.propertyUnknown, "The layout has a column of a property that the entity does not have.", name)
      }
      let content = try content(ordinal, model: model)
      return CSVSchema.Column(content: content, title: column.title ?? name, property: name)
    }
  }

  private func content(_ ordinal: Int, model: ManagedObjectModel) throws(PersistenceError) -> CSVSchema.Content {
    let property = entity.properties[ordinal]
    guard !property.isTransient else {
      throw fault(.propertyUnknown, "The layout has a column of a property that no store keeps.", property.name)
    }
    switch property {
    case .attribute(let attribute): return .attribute(ordinal: ordinal, attribute.type)
    case .relationship(let relationship):
      guard let destination = model.entity(named: relationship.destinationEntityName), entity.isKind(of: destination)
      else {
        throw fault(
          .capabilityMissing,
          "The relationship refers to \(relationship.destinationEntityName), and a CSV file keeps \(entity.name) only.",
          recovery: .chooseAnotherType,
          property.name
        )
      }
      return .relationship(ordinal: ordinal, isToMany: relationship.isToMany)
    }
  }

  private func checkOnce(_ columns: [CSVStore.Column]) throws(PersistenceError) {
    var seen: Set<CSVStore.Column.Content> = []
    for column in columns where column.content != .ignored && !seen.insert(column.content).inserted {
      if case .property(let name) = column.content {
        throw fault(.fileFormatUnsupported, "The layout has two columns of the same property.", name)
      }
      throw fault(.fileFormatUnsupported, "The layout has two columns of the reference.")
    }
    guard seen.contains(.reference) else {
      throw fault(
        .fileFormatUnsupported,
        "The layout has no column for the reference, which identifies a record.",
        recovery: "Add one."
      )
    }
  }

  private func checkComplete(_ columns: [CSVStore.Column]) throws(PersistenceError) {
    for property in entity.properties where !property.isTransient {
      guard !columns.contains(where: { $0.content == .property(property.name) }) else { continue }
      throw fault(
        .fileFormatUnsupported,
        "The layout has no column of the property, whose values would be lost.",
        recovery: "Add one, or make the property transient.",
        property.name
      )
    }
  }

  func check(_ dialect: CSVStore.Dialect) throws(PersistenceError) {
    guard let separator = dialect.separator else { return }
    let isControl = separator < 0x20 && separator != CSVFormat.tab
    guard isControl || separator >= 0x7F || CSVFormat.reservedBytes.contains(separator) else { return }
    throw fault(
      .fileFormatUnsupported,
      "The layout's separator cannot separate fields.",
      recovery: .custom(
        "Choose a comma, a semicolon, a tab, a vertical bar or another ASCII character that numbers, dates and UUIDs are "
          + "not written with."
      )
    )
  }

  private func fault(
    _ code: PersistenceError.Code,
    _ problem: String,
    recovery: PersistenceError.Recovery? = nil,
    _ property: String? = nil
  ) -> PersistenceError {
    PersistenceError(
      code,
      problem,
      recovery: recovery,
      context: .init(path: path, storeType: .csv, entity: entity.name, property: property)
    )
  }
}
