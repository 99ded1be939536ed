import Heartwood
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Makes a store of a table. The table is read twice: once to find its columns and their types, and once for its
/// records. The text of the file and the records are kept in memory.
struct TableImport {
  struct Result {
    let entityName: String
    let columns: [TableColumn]
    let recordCount: Int
  }

  let path: String
  /// The name of the entity; nil for one that is made of the file's name.
  let entityName: String?
  let options: TableOptions
  let registry: StoreRegistry
  private let fileSystem = POSIXFileSystem()

  init(path: String, entityName: String?, options: TableOptions, registry: StoreRegistry = .tool) {
    self.path = path
    self.entityName = entityName
    self.options = options
    self.registry = registry
  }

  /// Reads the table, and writes it to the destination, if there is one.
  func run(to destination: Destination?) throws -> Result {
    let type = try destination?.type(in: registry)
    try destination?.check(against: .file(path: path), in: fileSystem)
    if let destination, let type { try checkHoldsModel(type, destination) }
    _ = try fileSystem.storeStatus(atPath: path)
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    let bytes = try file.reading { try file.bytes() }
    let text = try TableEncoding.utf8Text(bytes, as: options.encoding, path: path)
    var reader = try table(text)
    let survey = try TableSurvey(&reader, options)
    let columns = try survey.columns()
    let entityName = entityName ?? TableColumn.entityName(forFile: PathParts.split(path).name)
    if let destination, let type {
      try write(try contents(text, columns, entityName, type), to: destination, type)
    }
    return Result(entityName: entityName, columns: columns, recordCount: survey.recordCount)
  }

  /// Refuses a type that does not hold the model, which is made of the table and would be lost.
  private func checkHoldsModel(_ type: StoreType, _ destination: Destination) throws {
    guard try !registry.format(for: type).typeDescription.capabilities.supports(.embeddedModel) else { return }
    throw ToolError(
      at: destination.path,
      "A store of type \(type) does not hold its model, and the model that is made of the table is nowhere else. Choose another type of store."
    )
  }

  /// Returns a reader of the table, at the titles of its columns.
  private func table(_ text: [UInt8]) throws -> TableReader {
    var reader = try TableReader(text, path: path, separator: options.separator)
    for _ in 1..<max(1, options.headerLine) { reader.skipLine() }
    return reader
  }

  private func contents(
    _ text: [UInt8],
    _ columns: [TableColumn],
    _ entityName: String,
    _ type: StoreType
  ) throws -> StoreContents {
    let attributes = columns.map { column in
      PropertyDescription.attribute(AttributeDescription(name: column.name, type: column.kind.attributeType))
    }
    let model: ManagedObjectModel
    do {
      model = try ManagedObjectModel(entities: [EntityDefinition(name: entityName, properties: attributes)])
    } catch {
      throw ToolError(at: path, "The model of the table has a fault. \(error)")
    }
    let empty = StoreContents(model: model, entities: model.entities, metadata: StoreMetadata(storeType: type))
    let tables = try model.entities.map { try records(text, columns, of: $0) }
    return empty.migrated(to: model, entities: model.entities, tables: tables)
  }

  private func records(_ text: [UInt8], _ columns: [TableColumn], of entity: EntityDescription) throws -> NodeTable {
    let builder = TableBuilder(entity: entity)
    var reader = try table(text)
    _ = try reader.next()
    var number: Int64 = 0
    while let row = try reader.next() {
      number += 1
      let values = try columns.map { column in
        guard let value = column.value(row.fields[column.index]) else {
          throw ToolError(at: "\(path):\(row.line)", "The value of the column “\(column.title)” cannot be read.")
        }
        return value
      }
      try builder.append(.integer(number), values: values)
    }
    return builder.finish()
  }

  private func write(_ contents: StoreContents, to destination: Destination, _ type: StoreType) throws {
    let storeManager = StoreManager(model: contents.model, registry: registry, fileSystem: fileSystem)
    let request = StoreManager.Request(type: type, place: destination.place, options: StoreOptions())
    OpenedStores.add(try storeManager.write(contents, to: request, replacing: destination.isReplaced))
  }
}
