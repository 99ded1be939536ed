import Foundation
import Heartwood

/// A store of columns: the values of a property lie one after another, as they do in memory, so nothing is parsed and nothing copied.
public final class ColumnFileStore: AtomicStore, StoreClass {
  /// What such a file is called, and what the store can do.
  public static let typeDescription = StoreTypeDescription(
    type: "ColumnFile",
    displayName: "Column file",
    fileExtensions: ["columns"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      features: [.persistence, .relationships, .userMetadata],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.uuid, .integer, .string]
    )
  )

  /// Makes a store; it needs to know nothing beforehand.
  public init(_ setup: StoreSetup) {}

  /// Whether a file that begins with `prefix` is one of columns.
  public static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: ColumnFile.magic) }

  /// Reads the directory.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try ColumnFile(file).directory.metadata
  }

  /// Reads the directory, and makes columns of the parts of the mapped file, which are looked at when they are needed.
  public func load(_ input: StoreInput, into loader: StoreLoader) throws {
    let file = try ColumnFile(input)
    loader.metadata = file.directory.metadata
    guard file.directory.entities == loader.model.entities.map(\.name) else {
      throw PersistenceError(
        .modelIncompatible,
        "The file was written with a model of other entities, or in another order."
      )
    }
    for table in file.directory.tables {
      let entity = try loader.entity(named: table.entity)
      guard table.properties == entity.properties.map(\.name) else {
        throw PersistenceError(
          .modelIncompatible,
          "The file has other properties of the entity than the model.",
          context: .init(entity: entity.name)
        )
      }
      let groups = try table.groups.map { try file.rowGroup($0, of: entity) }
      try loader.setRowGroups(groups, of: entity) { index throws(PersistenceError) in
        for part in table.groups[index].parts { try file.check(part) }
      }
    }
  }

  /// Writes the parts of all columns, and then the directory, which tells where they are.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    var directory = Directory(metadata: contents.metadata, entities: contents.model.entities.map(\.name), tables: [])
    try output.write(ColumnFile.magic)
    for entity in contents.entities where contents.table(of: entity).count > 0 {
      let groups = try contents.rowGroups(of: entity).map { try ColumnFile.write($0, to: output) }
      directory.tables.append(.init(entity: entity.name, properties: entity.properties.map(\.name), groups: groups))
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let part = try ColumnFile.write(ByteSlice([UInt8](encoder.encode(directory))), to: output)
    try output.write(ColumnFile.trailer(directory: part))
  }
}
