import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// A model of projects and things to do, and engines on it.
struct EngineFixture {
  static let path = "/folder/work.plain"

  let model: ManagedObjectModel
  let memory = InMemoryFileSystem()
  let files: FaultInjectingFileSystem
  let project: EntityDescription
  let task: EntityDescription
  let chore: EntityDescription
  let item: EntityDescription

  init() throws {
    model = try Self.model()
    files = FaultInjectingFileSystem(wrapping: memory)
    project = try #require(model.entity(named: "Project"))
    task = try #require(model.entity(named: "Task"))
    chore = try #require(model.entity(named: "Chore"))
    item = try #require(model.entity(named: "Item"))
  }

  static func model(memoType: AttributeType = .string, extra: EntityDefinition? = nil) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
        .entity("Item", abstract: true, .attribute("name", .string, optional: true)),
        .entity("Project", parent: "Item", .toMany("tasks", "Task", inverse: "project", ordered: true)),
        .entity(
          "Task",
          parent: "Item",
          .attribute("memo", memoType, optional: true),
          .toOne("project", "Project", inverse: "tasks"),
          .toOne("after", "Task", inverse: nil)
        ),
        .entity("Chore", parent: "Task"),
        .entity("Note", .attribute("name", .string, optional: true), .attribute("number", .integer64, optional: true)),
      ] + (extra.map { [$0] } ?? []),
      configurations: ["Notes": ["Note"], "Projects": ["Item", "Project", "Task", "Chore"]]
    )
  }

  func setup(
    path: String? = EngineFixture.path,
    configuration: String? = nil,
    model: ManagedObjectModel? = nil,
    options: StoreOptions = StoreOptions()
  ) throws -> StoreSetup {
    let model = model ?? self.model
    return StoreSetup(
      model: model,
      configurationName: configuration,
      entities: try #require(model.entities(forConfiguration: configuration)),
      path: path,
      options: options
    )
  }

  /// An engine over the file at ``path``.
  func open(
    _ storeClass: any (AtomicStore & StoreClass).Type = PlainStore.self,
    configuration: String? = nil,
    model: ManagedObjectModel? = nil,
    options: StoreOptions = StoreOptions()
  ) throws -> AtomicStoreEngine {
    let setup = try setup(configuration: configuration, model: model, options: options)
    return try AtomicStoreEngine.open(AtomicClassFormat(storeClass), setup: setup, fileSystem: files)
  }

  func openInMemory() throws -> AtomicStoreEngine {
    try AtomicStoreEngine.open(AtomicClassFormat(InMemoryStore.self), setup: try setup(path: nil), fileSystem: files)
  }

  var fileBytes: [UInt8]? { memory.contents(ofFileAtPath: Self.path) }

  func form() throws -> PlainForm {
    try PlainForm(try StoreInput(try memory.openFile(atPath: Self.path)))
  }
}

// MARK: Records

extension EngineFixture {
  func temporaryID(_ entity: EntityDescription) -> ManagedObjectID {
    .temporary(in: ObjectIDScope(storeIdentifier: nil, entity: entity))
  }

  func values(of entity: EntityDescription, _ named: [String: PropertyValue]) -> [PropertyValue] {
    entity.properties.map { property in
      named[property.name] ?? (property.relationship?.isToMany == true ? .toMany([]) : .null)
    }
  }

  func inserted(_ id: ManagedObjectID, _ named: [String: PropertyValue] = [:]) -> ObjectSnapshot {
    ObjectSnapshot(objectID: id, version: 0, values: values(of: id.entity, named))
  }

  func inserted(_ entity: EntityDescription, _ named: [String: PropertyValue] = [:]) -> ObjectSnapshot {
    inserted(temporaryID(entity), named)
  }

  func updated(_ node: AtomicStoreCacheNode, _ named: [String: PropertyValue]) throws -> RecordUpdate {
    let values = try named.map { name, value in
      (ordinal: try #require(node.entity.ordinal(ofProperty: name)), value: value)
    }
    return RecordUpdate(objectID: node.objectID, baseVersion: node.version, values: values)
  }

  func deletion(_ node: AtomicStoreCacheNode) -> RecordDeletion {
    RecordDeletion(objectID: node.objectID, baseVersion: node.version)
  }
}

extension AtomicStoreEngine {
  func nodes(of entity: EntityDescription) throws -> [AtomicStoreCacheNode] {
    Array(try contents().nodes(of: entity))
  }

  func node(named name: String, of entity: EntityDescription) throws -> AtomicStoreCacheNode {
    try #require(try nodes(of: entity).first { $0["name"] == .string(name) })
  }

  func names(of entity: EntityDescription) throws -> [PropertyValue] { try nodes(of: entity).map { $0["name"] } }
}
