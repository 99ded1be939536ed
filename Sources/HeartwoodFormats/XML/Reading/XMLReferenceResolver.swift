import HeartwoodModel
import HeartwoodStore

/// Finds out of which entity the objects are that relationships to several entities lead to: a file tells only their ids.
///
/// An object that is gone is taken for one of the first entity: a deletion may leave links that lead nowhere.
struct XMLReferenceResolver {
  private let schema: XMLSchema
  private let tables: [NodeTable]
  private let tablesByOrdinal: [Int: Int]

  init(_ schema: XMLSchema, tables: [NodeTable]) {
    self.schema = schema
    self.tables = tables
    tablesByOrdinal = Dictionary(
      tables.enumerated().map { ($0.element.entity.ordinal, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// The tables, in which every reference names an entity.
  func resolved() throws(PersistenceError) -> [NodeTable] {
    var result: [NodeTable] = []
    for (entity, table) in zip(schema.entities, tables) {
      let open = entity.properties.filter { $0.targets.count != 1 && Self.isRelationship($0) }
      result.append(open.isEmpty ? table : try resolved(table, open))
    }
    return result
  }

  private static func isRelationship(_ property: XMLSchema.Property) -> Bool {
    if case .attribute = property.content { false } else { true }
  }

  private func resolved(_ table: NodeTable, _ open: [XMLSchema.Property]) throws(PersistenceError) -> NodeTable {
    var groups: [RowGroup] = []
    for group in table.groups {
      var columns = group.columns
      for property in open {
        columns[property.ordinal] = try resolved(columns[property.ordinal], property, table.entity)
      }
      groups.append(RowGroup(references: group.references, versions: group.versions, columns: columns))
    }
    return NodeTable(entity: table.entity, groups: groups)
  }

  private func resolved(
    _ column: Column,
    _ property: XMLSchema.Property,
    _ entity: EntityDescription
  ) throws(PersistenceError) -> Column {
    guard let references = column.references else { return column }
    let builder = ReferenceColumnBuilder()
    for index in 0..<references.count {
      if column.kind == .toOne, column.validity?[index] == false {
        builder.appendPlaceholder()
      } else {
        let reference = references[index]
        let known = references.entityOrdinal(index)
        let ordinal = known == XMLEntityReader.openTarget ? try target(reference, property, entity) : known
        builder.append(reference, entityOrdinal: ordinal)
      }
    }
    return column.with(references: builder.sealed())
  }

  private func target(
    _ reference: ReferenceID,
    _ property: XMLSchema.Property,
    _ entity: EntityDescription
  ) throws(PersistenceError) -> Int {
    for ordinal in property.targets {
      guard let index = tablesByOrdinal[ordinal] else { continue }
      if try tables[index].row(of: reference) != nil { return ordinal }
    }
    if let first = property.targets.first { return first }
    throw PersistenceError(
      .danglingReference,
      "A relationship leads to an object that no entity of the model has.",
      recovery: .giveModel,
      context: .init(storeType: .xml, entity: entity.name, property: entity.properties[property.ordinal].name)
    )
  }
}
