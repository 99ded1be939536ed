import Foundation
import Heartwood
import HeartwoodModelFiles
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct ContainerMigrationTests {
  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  /// A container of the model that lies in the folder.
  private func container(_ descriptions: PersistentStoreDescription...) throws -> PersistentContainer {
    try PersistentContainer(
      name: "Notes",
      modelIn: [folder.url],
      stores: descriptions,
      directory: folder.url.appending(path: "data"),
      registry: try Notes.registry()
    )
  }

  /// Makes a store of the first version.
  private func makeStore(_ description: PersistentStoreDescription) async throws {
    try Notes.writeBundle("Notes", in: folder.url, attributes: "text")
    let container = try container(description)
    try await container.loadPersistentStores()
    try await container.write { try $0.note("kept") }
    container.close()
  }

  /// Makes a store of the first version, and lets there be a second one.
  private func makeOldStore(_ type: StoreType) async throws {
    try await makeStore(PersistentStoreDescription(type: type))
    try Notes.writeBundle("Notes", in: folder.url, attributes: "text", "title")
  }

  /// CSV is not among them: its lines are the same in both versions.
  @Test(arguments: [.binary, .xml, .propertyList, .sqlite] as [StoreType])
  func anOlderStoreIsMigrated(_ type: StoreType) async throws {
    try await makeOldStore(type)
    let container = try container(PersistentStoreDescription(type: type))
    try await container.loadPersistentStores()
    #expect(try await container.texts("title") == ["kept"])
  }

  @Test func linesOfAnOlderVersionAreFoundByTheVersionsBesideIt() async throws {
    try Notes.writeBundle("Notes", in: folder.url, attributes: "text")
    let old = try container(PersistentStoreDescription(type: .csv))
    try await old.loadPersistentStores()
    try await old.write { try $0.note("kept") }
    old.close()
    let bundle = folder.url.appending(path: "Notes.xcdatamodeld")
    try Notes.writeBundle("Notes", in: folder.url, attributes: "text", "title")
    let contents = """
      <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Note">
      <attribute name="text" attributeType="String" defaultValueString=""/>
      <attribute name="stars" attributeType="Integer 16" defaultValueString="3"/></entity></model>
      """
    try Data(contents.utf8).write(to: bundle.appending(path: "Notes 2.xcdatamodel/contents"))
    let container = try container(PersistentStoreDescription(type: .csv))
    try await container.loadPersistentStores()
    #expect(try await container.texts() == ["kept"])
    let stars = try await container.performBackgroundTask { context in
      try context.fetch(entityName: "Note").map { try $0.value(forKey: "stars") as? Int }
    }
    #expect(stars == [3])
  }

  /// A mapping model that is given takes the place of those that lie there, and not of the versions.
  @Test(arguments: [false, true])
  func whatIsGivenIsTakenAndTheRestIsFound(givesVersions: Bool) async throws {
    try await makeOldStore(.binary)
    let bundle = folder.url.appending(path: "Notes.xcdatamodeld")
    let models = try DataModelFile.models(at: bundle).map(\.model)
    let new = try #require(models.last)
    let entity = try #require(new.entities.first?.name)
    var description = PersistentStoreDescription()
    description.options[.mappingModels] = [
      MappingModel(entityMappings: [
        EntityMapping(
          name: "Given",
          sourceEntityName: entity,
          destinationEntityName: entity,
          attributeMappings: [PropertyMapping(name: "title", valueExpression: .constant(.string("given")))]
        )
      ])
    ]
    if givesVersions { description.options[.olderModels] = models }
    let container = try container(description)
    #expect(try container.migrations().first?.steps.map(\.isInferred) == [false])
    try await container.loadPersistentStores()
    #expect(try await container.texts("title") == ["given"])
  }

  @Test func checkMigrateAndOpen() async throws {
    try await makeOldStore(.binary)
    let container = try container(PersistentStoreDescription())
    #expect(try container.migrations().count == 1)
    for migration in try container.migrations() { try migration.run() }
    #expect(try container.migrations().isEmpty)
    try await container.loadPersistentStores()
    #expect(try await container.texts("title") == ["kept"])
    #expect(try container.migrations().isEmpty)
  }

  @Test func aBackupIsKept() async throws {
    try await makeOldStore(.binary)
    let old = try Data(contentsOf: folder.url.appending(path: "data/Notes.heartwood"))
    var description = PersistentStoreDescription()
    description.migrationBackupURL = folder.url.appending(path: "backup")
    let container = try container(description)
    try await container.loadPersistentStores()
    #expect(try Data(contentsOf: folder.url.appending(path: "backup")) == old)
    #expect(description.migrationBackupURL?.path == folder.path("backup"))
  }

  @Test func whatIsNotToBeMigratedIsAnError() async throws {
    try await makeOldStore(.binary)
    var description = PersistentStoreDescription()
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    description.shouldMigrateStoreAutomatically = false
    let plain = try container(description)
    #expect(await persistenceError { try await plain.loadPersistentStores() }?.code == .modelIncompatible)
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = false
    let mapped = try container(description)
    #expect(await persistenceError { try await mapped.loadPersistentStores() }?.code == .mappingModelMissing)
    description.shouldInferMappingModelAutomatically = true
    description.isReadOnly = true
    let locked = try container(description)
    #expect(await persistenceError { try await locked.loadPersistentStores() }?.code == .storeReadOnly)
  }

  @Test func aMigrationIsCancelled() async throws {
    try await makeOldStore(.binary)
    let old = try Data(contentsOf: folder.url.appending(path: "data/Notes.heartwood"))
    let progress = MigrationProgress()
    progress.cancel()
    let container = try container(PersistentStoreDescription())
    let error = await persistenceError { try await container.loadPersistentStores(progress: progress) }
    #expect(error?.code == .migrationCancelled)
    #expect(try Data(contentsOf: folder.url.appending(path: "data/Notes.heartwood")) == old)
  }

  @Test(arguments: [.binary, .xml, .propertyList, .sqlite] as [StoreType])
  func dataAreLostWhereThatIsAskedFor(_ type: StoreType) async throws {
    try await makeOldStore(type)
    var description = PersistentStoreDescription(type: type)
    description.losesAllDataOnModelMismatch = true
    description.shouldInferMappingModelAutomatically = false
    let container = try container(description)
    try await container.loadPersistentStores()
    #expect(try await container.texts("title") == [])
    try await container.write { try $0.note("new", "title") }
    container.close()
    let again = try self.container(description)
    try await again.loadPersistentStores()
    #expect(try await again.texts("title") == ["new"])
  }

  @Test func whatIsOnlyToBeReadIsNotLost() async throws {
    try await makeOldStore(.binary)
    let file = folder.url.appending(path: "data/Notes.heartwood")
    let old = try Data(contentsOf: file)
    var description = PersistentStoreDescription()
    description.losesAllDataOnModelMismatch = true
    description.isReadOnly = true
    for migrates in [true, false] {
      description.shouldMigrateStoreAutomatically = migrates
      description.shouldInferMappingModelAutomatically = false
      let container = try container(description)
      let error = await persistenceError { try await container.loadPersistentStores() }
      #expect(error?.code == (migrates ? .mappingModelMissing : .modelIncompatible))
      #expect(try Data(contentsOf: file) == old)
    }
  }

  @Test func whatCanBeMigratedIsNotLost() async throws {
    try await makeOldStore(.binary)
    var description = PersistentStoreDescription()
    description.losesAllDataOnModelMismatch = true
    let container = try container(description)
    try await container.loadPersistentStores()
    #expect(try await container.texts("title") == ["kept"])
  }

  @Test(arguments: Notes.typesWithFiles)
  func aDamagedFileIsNotDeleted(_ type: StoreType) async throws {
    try Notes.writeBundle("Notes", in: folder.url, attributes: "text")
    let url = folder.url.appending(path: "damaged")
    try Data("no store".utf8).write(to: url)
    var description = PersistentStoreDescription(type: type, url: url)
    description.losesAllDataOnModelMismatch = true
    let container = try container(description)
    #expect(await persistenceError { try await container.loadPersistentStores() } != nil)
    #expect(try Data(contentsOf: url) == Data("no store".utf8))
  }

  private static let damages: [(type: StoreType, text: String, other: String)] = [
    (.xml, #"name="text""#, #"name="tekt""#), (.xml, #"type="NOTE""#, #"type="NOTF""#),
    (.propertyList, "Ttext", "Ttekt"),
  ]

  /// A name that the file's own model lacks is damage too, of whichever version the store is.
  @Test(arguments: damages, [false, true])
  func aFileWithAnotherNameIsNotDeleted(
    _ damage: (type: StoreType, text: String, other: String),
    isOld: Bool
  ) async throws {
    let url = folder.url.appending(path: "damaged")
    var description = PersistentStoreDescription(type: damage.type, url: url)
    description.losesAllDataOnModelMismatch = true
    try await makeStore(description)
    let damaged = try Data(contentsOf: url).replacing(Data(damage.text.utf8), with: Data(damage.other.utf8))
    #expect(try Data(contentsOf: url) != damaged)
    try damaged.write(to: url)
    if isOld { try Notes.writeBundle("Notes", in: folder.url, attributes: "text", "title") }
    let container = try container(description)
    #expect(await persistenceError { try await container.loadPersistentStores() }?.code == .modelIncompatible)
    #expect(try Data(contentsOf: url) == damaged)
  }

  /// Whose it is nobody can say.
  @Test(arguments: [false, true])
  func aFileThatTellsNoModelIsNotDeleted(migrates: Bool) async throws {
    let url = folder.url.appending(path: "store")
    var description = PersistentStoreDescription(type: .xml, url: url)
    description.losesAllDataOnModelMismatch = true
    try await makeStore(description)
    let silent = try String(contentsOf: url, encoding: .utf8)
      .replacing("NSStoreModelVersionHashes<", with: "NSOther<").replacing("HeartwoodModel<", with: "NSAnother<")
    try Data(silent.utf8).write(to: url)
    description.shouldMigrateStoreAutomatically = migrates
    try Notes.writeBundle("Notes", in: folder.url, attributes: "other")
    let container = try container(description)
    #expect(await persistenceError { try await container.loadPersistentStores() }?.code == .modelIncompatible)
    #expect(try String(contentsOf: url, encoding: .utf8) == silent)
  }
}
