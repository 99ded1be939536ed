import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import HeartwoodWrappers
import Testing

/// Stores with known records, which are damaged and salvaged into binary ones.
struct SalvageFixture {
  /// A type with files, and how it is opened.
  struct Kind: Sendable, CustomTestStringConvertible {
    let storeClass: any StoreClass.Type
    var options = StoreOptions()
    /// Whether each change of a byte is noticed, or none of records.
    var detectsEveryChange = false
    var name = ""

    var type: StoreType { storeClass.typeDescription.type }
    var testDescription: String { "\(type)\(name)" }
    var keepsOneEntity: Bool { storeClass.typeDescription.capabilities.maximumEntityCount == 1 }
  }

  /// What became of a damaged file.
  struct Outcome {
    let report: SalvageReport
    let contents: StoreContents
  }

  static let kinds: [Kind] = [
    Kind(storeClass: BinaryStore.self, detectsEveryChange: true),
    Kind(storeClass: CSVStore.self),
    Kind(storeClass: XMLStore.self),
    Kind(storeClass: PropertyListStore.self),
    Kind(storeClass: PropertyListStore.self, options: xmlList, name: " (XML)"),
    Kind(storeClass: CoreDataBinaryStore.self),
    Kind(storeClass: SQLiteStore.self),
    Kind(storeClass: CompressedStore<CSVStore>.self),
    Kind(storeClass: CompressedStore<BinaryStore>.self, detectsEveryChange: true),
    Kind(storeClass: EncryptedStore<XMLStore>.self, options: key, detectsEveryChange: true),
    Kind(storeClass: EncryptedStore<BinaryStore>.self, options: key, detectsEveryChange: true),
    Kind(storeClass: LoggingStore<CSVStore>.self, options: silent),
  ]

  private static let xmlList: StoreOptions = {
    var options = StoreOptions()
    options[.propertyListKind] = .xml
    return options
  }()

  private static let silent: StoreOptions = {
    var options = StoreOptions()
    options[.storeLogger] = SilentLog.logger
    return options
  }()

  private static let key: StoreOptions = {
    var options = StoreOptions()
    options[.encryptionKey] = try? EncryptionKey(bytes: Data(0..<32))
    return options
  }()

  let kind: Kind
  let scratch: ScratchFolder
  let storeManager: StoreManager
  private let damaged = "damaged.store"

  init(_ kind: Kind) throws {
    self.kind = kind
    scratch = try ScratchFolder()
    let registry = try StoreRegistry(
      kind.storeClass == BinaryStore.self ? [BinaryStore.self] : [BinaryStore.self, kind.storeClass]
    )
    storeManager = StoreManager(
      model: try Self.model(hasOneEntity: kind.keepsOneEntity),
      registry: registry,
      fileSystem: POSIXFileSystem()
    )
  }

  func path(_ name: String) -> String { scratch.url.appending(path: name).path }

  private static func model(hasOneEntity: Bool) throws -> ManagedObjectModel {
    let item = EntityDefinition.entity(
      "Item",
      .attribute("title", .string),
      .attribute("rank", .integer64, optional: true),
      .attribute("amount", .double, optional: true)
    )
    if hasOneEntity { return try ManagedObjectModel(entities: [item]) }
    return try ManagedObjectModel(entities: [
      .entity("List", .attribute("name", .string), .toMany("items", "Item", inverse: "list", ordered: true)),
      .entity(
        "Item",
        .attribute("title", .string),
        .attribute("rank", .integer64, optional: true),
        .attribute("amount", .double, optional: true),
        .toOne("list", "List", inverse: "items"),
        .toMany("tags", "Tag", inverse: "items")
      ),
      .entity("Tag", .attribute("name", .string), .toMany("items", "Item", inverse: "tags")),
    ])
  }

  // MARK: Records

  /// Lists of four items each, and two tags that some items have.
  func original(_ count: Int) throws -> StoreContents {
    var contents = StoreContents(
      model: storeManager.model,
      entities: storeManager.model.entities,
      metadata: StoreMetadata(storeType: kind.type)
    )
    for entity in storeManager.model.entities {
      let rows =
        switch entity.name {
        case "Item": (1...count).map { item($0, entity, contents) }
        case "List":
          (0...(count / 4)).map { place in
            let members = Array(max(1, place * 4)..<min(count + 1, place * 4 + 4))
            return Self.row(
              place + 1,
              entity,
              ["name": .string("List \(place)"), "items": links(members, "Item", contents)]
            )
          }
        default:
          [1, 2].map { number in
            let members = (1...count).filter { $0.isMultiple(of: 2) && $0 % 4 / 2 + 1 == number }
            return Self.row(
              number,
              entity,
              ["name": .string("Tag \(number)"), "items": links(members, "Item", contents)]
            )
          }
        }
      let groups = RowGroupBuilder.groups(of: rows, entity: entity)
      contents.tables[entity.ordinal] = NodeTable(entity: entity, groups: groups)
    }
    return contents
  }

  private func item(_ number: Int, _ entity: EntityDescription, _ contents: StoreContents) -> NodeTable.NewRow {
    var values: [String: PropertyValue] = [
      "title": .string("The title of the item \(number), with some length"), "rank": .integer(Int64(number) * 1_001),
      "amount": number.isMultiple(of: 3) ? .null : .double(Double(number) / 8),
    ]
    if !kind.keepsOneEntity {
      values["list"] = links([number / 4 + 1], "List", contents).objectIDs.first.map(PropertyValue.toOne)
      if number.isMultiple(of: 2) { values["tags"] = links([number % 4 / 2 + 1], "Tag", contents) }
    }
    return Self.row(number, entity, values)
  }

  private func links(_ numbers: [Int], _ entityName: String, _ contents: StoreContents) -> PropertyValue {
    guard let entity = storeManager.model.entity(named: entityName) else { return .toMany([]) }
    return .toMany(numbers.map { contents.objectID(.integer(Int64($0)), of: entity) })
  }

  private static func row(
    _ number: Int,
    _ entity: EntityDescription,
    _ values: [String: PropertyValue]
  ) -> NodeTable.NewRow {
    let all = entity.properties.map { property -> PropertyValue in
      values[property.name] ?? (property.relationship?.isToMany == true ? .toMany([]) : .null)
    }
    return NodeTable.NewRow(reference: .integer(Int64(number)), values: all)
  }

  /// Writes records, and returns the bytes of the file.
  func bytes(of contents: StoreContents) throws -> [UInt8] {
    let path = path(damaged)
    let store = try storeManager.write(
      contents,
      to: .init(type: kind.type, path: path, options: kind.options),
      replacing: true
    )
    _ = store.engine.close(unlessSavedSince: nil)
    try storeManager.checkpoint(.init(type: kind.type, path: path, options: kind.options))
    return Array(try Data(contentsOf: URL(filePath: path)))
  }

  /// Salvages a damaged file; nil if it is refused with an error that names it.
  func salvage(_ bytes: [UInt8], _ what: String) throws -> Outcome? {
    let (source, target) = (path(damaged), path("rescued.heartwood"))
    try Data(bytes).write(to: URL(filePath: source))
    for side in ["-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: source + side) }
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: storeManager.model,
      registry: storeManager.registry
    )
    do {
      let report = try coordinator.salvageStore(
        at: URL(filePath: source),
        type: kind.type,
        to: URL(filePath: target),
        destinationType: .binary,
        options: kind.options,
        replacing: true
      )
      #expect(Array(try Data(contentsOf: URL(filePath: source))) == bytes, "\(what): the source was changed")
      let store = try storeManager.open(.init(type: .binary, path: target, options: StoreOptions()))
      return Outcome(report: report, contents: try store.engine.contents())
    } catch let error as PersistenceError {
      #expect(error.context.path == source, "\(what): \(error)")
      return nil
    }
  }
}

// MARK: Comparing

extension SalvageFixture {
  struct Key: Hashable {
    let entity: String
    let reference: String
  }

  /// The values of each record, links as the names of records.
  static func records(_ contents: StoreContents) -> [Key: [String: String]] {
    var records: [Key: [String: String]] = [:]
    for node in contents.nodes {
      var values: [String: String] = [:]
      for (property, value) in zip(node.entity.properties, node.values) {
        let ids = value.objectIDs.map { "\($0.entity.name) \($0.reference.text)" }.sorted()
        values[property.name] = property.relationship == nil ? "\(value)" : ids.joined(separator: ", ")
      }
      records[Key(entity: node.entity.name, reference: node.reference.text)] = values
    }
    return records
  }

  /// What is in the rescued store and neither as it was nor reported.
  static func inventions(_ outcome: Outcome, _ original: [Key: [String: String]]) -> [String] {
    var reported: Set<[String]> = []
    for loss in outcome.report.losses {
      guard let entity = loss.entity, let property = loss.property else { continue }
      for reference in loss.references { reported.insert([entity, reference.text, property]) }
    }
    var inventions: [String] = []
    for (key, values) in records(outcome.contents) {
      guard let wanted = original[key] else {
        inventions.append("\(key.entity) \(key.reference) was not there")
        continue
      }
      for (property, value) in values where value != wanted[property] {
        if reported.contains([key.entity, key.reference, property]) { continue }
        inventions.append("\(key.entity) \(key.reference) \(property): \(value), not \(wanted[property] ?? "")")
      }
    }
    return inventions
  }

  /// Records that were there, were not written, and were not reported, as far as the file can know its records.
  static func silentLosses(_ outcome: Outcome, _ original: [Key: [String: String]]) -> Int {
    let report = outcome.report
    let missing = original.count - report.recordCount
    return report.hasUncountedLosses ? 0 : max(0, missing - report.lostRecordCount)
  }
}
