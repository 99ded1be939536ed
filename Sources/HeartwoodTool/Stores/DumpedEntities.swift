import Heartwood
import HeartwoodStore

/// The tables that a dump prints.
struct DumpedEntities {
  let tables: [NodeTable]

  /// - Parameter name: the entity that the user asks for; nil means all that have records of their own. What is wrong with the records of others
  ///   does not matter then.
  init(name: String?, of store: PersistentStore, path: String) throws {
    let entities = store.entities.filter { !$0.isAbstract }
    guard let name else {
      let contents = try store.engine.contents()
      tables = entities.map { contents.table(of: $0) }
      return
    }
    guard let entity = entities.first(where: { $0.name == name }) else {
      throw PersistenceError(
        .entityUnknown,
        "The store has no records of an entity called \(name). It has these entities: \(Self.names(entities)).",
        context: .init(path: path, entity: name)
      )
    }
    let table = try store.engine.table(of: entity)
    try table.checkReadable()
    tables = [table]
  }

  /// The one table, for a form that holds one only.
  var only: NodeTable {
    get throws {
      if let table = tables.first, tables.count == 1 { return table }
      throw ToolError(
        "The form csv has records of one entity. Choose one with --entity: \(Self.names(tables.map(\.entity)))."
      )
    }
  }

  private static func names(_ entities: [EntityDescription]) -> String {
    entities.map(\.name).joined(separator: ", ")
  }
}
