import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// A store of a type in a folder of its own, opened with one model and then with another.
struct MigrationBench {
  /// The types that keep several entities and their model.
  static let types: [StoreType] = [.binary, .xml, .propertyList, .coreDataBinary, .sqlite]

  let folder: ScratchFolder
  let type: StoreType
  let fileSystem: any FileSystem
  var options = StoreOptions()

  init(_ type: StoreType = .binary, fileSystem: any FileSystem = POSIXFileSystem()) throws {
    self.type = type
    self.fileSystem = fileSystem
    folder = try ScratchFolder()
    // Most ask for something else; what is lost has tests of its own.
    options[.allowsMigrationLoss] = true
  }

  var url: URL { folder.url.appending(path: "store") }

  func coordinator(_ model: ManagedObjectModel) throws -> PersistentStoreCoordinator {
    try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: TestStack.registry,
      fileSystem: fileSystem
    )
  }

  /// Makes a store of `model`.
  func make(_ model: ManagedObjectModel, _ fill: (ManagedObjectContext) throws -> Void) throws {
    let context = try open(model)
    try fill(context)
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  func migration(to model: ManagedObjectModel) throws -> StoreMigration? {
    try coordinator(model).migration(ofStoreAt: url, type: type, options: options)
  }

  /// A context over the store, opened as it is.
  func open(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
    let coordinator = try coordinator(model)
    try coordinator.addPersistentStore(type: type, at: url, options: options)
    return ManagedObjectContext(coordinator)
  }

  /// Migrates the store, after a dry run that tells the same and changes nothing, and opens it.
  func migrated(to model: ManagedObjectModel) throws -> ManagedObjectContext {
    let foretold = try foretold(model)
    let report = try #require(try migration(to: model)).run()
    if let foretold { #expect(report == foretold) }
    #expect(try self.migration(to: model) == nil)
    let context = try open(model)
    try context.expectSound()
    return context
  }

  /// What a dry run tells; nil where code of the application would be run by it, which may look at how often that is.
  private func foretold(_ model: ManagedObjectModel) throws -> MigrationReport? {
    guard options[.entityMigrationPolicies].isEmpty, options[.stagedMigrationManager] == nil else { return nil }
    let before = try folder.files()
    let report = try #require(try migration(to: model)).dryRun()
    #expect(try folder.files() == before)
    return report
  }

  /// What the file has, byte for byte.
  func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: url)) }
}

extension ManagedObjectContext {
  /// Expects that all that the stores keep fits together.
  func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
    for store in persistentStoreCoordinator.persistentStores {
      let findings = try ContentsValidation.findings(in: try store.engine.contents(), limit: 5)
      #expect(findings.isEmpty, sourceLocation: sourceLocation)
    }
  }

  /// Makes an object with values by name.
  @discardableResult
  func make(_ entity: String, _ values: [String: Any?] = [:]) throws -> ManagedObject {
    let object = try insert(entityName: entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    return object
  }

  /// The values of a property of all objects of an entity, as text, in order.
  func texts(_ entity: String, _ property: String) throws -> [String] {
    try fetch(entityName: entity).map { try $0.value(forKey: property).map { "\($0)" } ?? "nil" }.sorted()
  }

  /// The names of what each object leads to, by its own name.
  func links(_ entity: String, _ relationship: String) throws -> [String: [String]] {
    var links: [String: [String]] = [:]
    for object in try fetch(entityName: entity) {
      let value = try object.value(forKey: relationship)
      let others = (value as? [ManagedObject]) ?? (value as? ManagedObject).map { [$0] } ?? []
      let names = try others.map { try $0.value(forKey: "name") as? String ?? "" }
      let isOrdered = object.entity.relationshipsByName[relationship]?.isOrdered ?? false
      links[try object.value(forKey: "name") as? String ?? ""] = isOrdered ? names : names.sorted()
    }
    return links
  }
}

extension ManagedObjectModel {
  static func of(_ entities: EntityDefinition...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: entities)
  }
}

/// Expects that `body` throws an error of `code`.
func expectError<Result>(
  _ code: PersistenceError.Code,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Result
) {
  #expect(persistenceError { _ = try body() }?.code == code, sourceLocation: sourceLocation)
}
