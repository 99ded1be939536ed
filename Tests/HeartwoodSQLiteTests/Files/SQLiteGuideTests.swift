import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodStore
import Testing

/// What the article on Core Data's files shows.
@Suite struct SQLiteGuideTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench()
  }

  @Test func aFileIsOpenedSharedAndCopied() throws {
    try bench.makeStore(items: ["a": Data(repeating: 1, count: 200_000)])
    let registry = try StoreRegistry([SQLiteStore.self])
    let (url, backupURL, modelURL) = (bench.url(), bench.url("Backup.sqlite"), bench.url("Model.json"))
    var options = StoreOptions()
    let model = try SQLiteStore.model(ofStoreAt: url) ?? ManagedObjectModel(contentsOf: modelURL)
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    #expect(!store.isReadOnly)
    let context = ManagedObjectContext(coordinator)
    let item = try #require(try bench.items(context).first)

    let other = try bench.context()
    try bench.items(other)[0].setValue("theirs", forKey: "name")
    try other.save()
    other.persistentStoreCoordinator.close()
    try item.setValue(nil, forKey: "data")
    do {
      try context.save()
    } catch PersistenceError.Code.saveConflict {
      context.refreshAllObjects()
      try context.save()
    }
    #expect(try item.value(forKey: "name") as? String == "theirs")

    try SQLiteStore.backUp(storeAt: url, to: backupURL)
    try SQLiteStore.vacuum(at: url)
    try item.setValue("later", forKey: "name")
    try context.save()
    try coordinator.remove(store)
    try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backupURL, type: .sqlite)
    try coordinator.destroyPersistentStore(at: backupURL, type: .sqlite)

    options[.isReadOnly] = true
    try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    #expect(try bench.items(context).map { try $0.value(forKey: "name") as? String } == ["theirs"])
  }

  @Test func aFileIsReadAndConvertedWithARecoveredModel() throws {
    let data = Data(repeating: 1, count: 200_000)
    try bench.makeStore(items: ["a": data])
    let registry = try StoreRegistry([SQLiteStore.self])
    let (url, copyURL, options) = (bench.url(), bench.url("Copy.sqlite"), StoreOptions())
    let recovered = try SQLiteStore.recoverModel(ofStoreAt: url)
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: recovered.model, registry: registry)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    try coordinator.convert(store, to: copyURL)
    let context = ManagedObjectContext(coordinator)
    let item = try #require(try bench.items(context).first)
    #expect(try item.value(forKey: "data") as? Data == data)
    // What was converted is of the recovered model.
    try item.setValue("b", forKey: "name")
    try context.save()
    #expect(try bench.contents() == ["a": data])
  }
}
