import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// A file with large data that is missing, or that cannot be read, costs the one value.
@Suite struct MissingFileTests {
  private let bench: SQLiteBench
  private let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
  /// The file of the item `b`.
  private let missing: URL

  init() throws {
    bench = try SQLiteBench()
    try bench.makeStore(items: ["a": large, "c": nil])
    let before = try bench.externalNames()
    let context = try bench.context()
    let item = try bench.insert("b", large + [1], in: context)
    let part = try context.insert(entityName: "Part")
    try part.setValue(item, forKey: "item")
    try context.save()
    context.persistentStoreCoordinator.close()
    let name = try #require(try bench.externalNames().subtracting(before).first)
    missing = bench.url(".Store_SUPPORT/_EXTERNAL_DATA/\(name)")
    try FileManager.default.removeItem(at: missing)
  }

  private func item(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try bench.items(context).first { try $0.value(forKey: "name") as? String == name })
  }

  private func expectMissing(_ error: PersistenceError?, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(error?.code == .fileMalformed, sourceLocation: sourceLocation)
    #expect(error?.message.contains(missing.lastPathComponent) == true, sourceLocation: sourceLocation)
    #expect(error?.message.contains("of the table ZITEM") == true, sourceLocation: sourceLocation)
    #expect(
      error?.context.entity == "Item" && error?.context.property == "data",
      "\(String(describing: error))",
      sourceLocation: sourceLocation
    )
  }

  @Test func theRestOfTheStoreWorks() throws {
    let context = try bench.context()
    #expect(try bench.items(context).map { try $0.value(forKey: "name") as? String } == ["a", "b", "c"])
    #expect(try item("a", context).value(forKey: "data") as? Data == large)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Item")) == 3)
    let part = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Part")).first)
    let owner = try #require(try part.value(forKey: "item") as? ManagedObject)
    #expect(try owner.value(forKey: "name") as? String == "b")
  }

  @Test func readingTheValueIsAnError() throws {
    let context = try bench.context()
    let item = try item("b", context)
    expectMissing(bench.error { _ = try item.propertyValue(forKey: "data") })
    expectMissing(bench.error { _ = try item.value(forKey: "data") })
    #expect(bench.error { _ = try item.value(forKey: "data") }?.context.objectIDs == [item.objectID])
    // What cannot throw gives nothing.
    #expect(item[AttributeKey<Data?>("data")] == nil)
    #expect(item.committedValues()["data"] == .null)
    #expect(try item.value(forKey: "name") as? String == "b")
  }

  @Test func whetherThereIsAValueIsKnown() throws {
    let context = try bench.context()
    func names(_ format: String) throws -> [String?] {
      let request = FetchRequest<ManagedObject>(
        entityName: "Item",
        where: try FetchPredicate(format: format),
        sortedBy: [FetchSortDescriptor("name")]
      )
      return try context.fetch(request).map { try $0.value(forKey: "name") as? String }
    }
    #expect(try names("data != nil") == ["a", "b"])
    #expect(try names("data == nil") == ["c"])
    let request = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: try FetchPredicate(format: "data == %@", large)
    )
    expectMissing(bench.error { _ = try context.fetch(request) })
    expectMissing(bench.error { _ = try context.count(for: request) })
  }

  @Test func rowsWithTheValueAreAnError() throws {
    let context = try bench.context()
    var request = FetchRequest<ManagedObject>(entityName: "Item")
    request.propertiesToFetch = ["name"]
    #expect(try context.fetchRows(request).count == 3)
    request.propertiesToFetch = ["name", "data"]
    expectMissing(bench.error { _ = try context.fetchRows(request) })
    request.predicate = try FetchPredicate(format: "name != 'b'")
    #expect(try context.fetchRows(request).count == 2)
  }

  @Test func otherValuesOfTheRecordAreSaved() throws {
    let context = try bench.context()
    let item = try item("b", context)
    try item.setValue("d", forKey: "name")
    try context.save()
    expectMissing(bench.error { _ = try item.propertyValue(forKey: "data") })
    context.persistentStoreCoordinator.close()
    // The row leads to the file still.
    #expect(try bench.namedFiles().contains(missing.lastPathComponent))
    try (large + [1]).write(to: missing)
    #expect(try bench.contents() == ["a": large, "d": large + [1], "c": nil])
  }

  @Test func aNewValueTakesItsPlace() throws {
    for data in [Data(), Data([7]), nil] {
      let context = try bench.context()
      let item = try item("b", context)
      try item.setValue(data, forKey: "data")
      #expect(try item.value(forKey: "data") as? Data == data)
      try context.save()
      context.persistentStoreCoordinator.close()
      #expect(try bench.contents()["b"] == .some(data))
      try restoreRow()
    }
  }

  /// Lets the row lead to the missing file again.
  private func restoreRow() throws {
    let cell = Data([2]) + Data(missing.lastPathComponent.utf8) + [0]
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { try $0.execute(sql: "UPDATE ZITEM SET ZDATA = ? WHERE ZNAME = 'b'", arguments: [cell]) }
    try queue.close()
  }

  /// Nobody knows what the value was, and what comes back is the link to the file.
  @Test func undoingAChangeLosesNothing() throws {
    let context = try bench.context()
    context.undoManager = GraphUndoManager()
    let item = try item("b", context)
    try item.setValue(Data([7]), forKey: "data")
    context.processPendingChanges()
    context.undoManager?.undo()
    expectMissing(bench.error { _ = try item.propertyValue(forKey: "data") })
    #expect(!item.hasPersistentChangedValues)
    try context.save()
    context.persistentStoreCoordinator.close()
    #expect(try bench.namedFiles().contains(missing.lastPathComponent))
  }

  @Test func aChildSeesTheSame() throws {
    let context = try bench.context()
    let child = ManagedObjectContext(parent: context)
    let item = try item("b", child)
    expectMissing(bench.error { _ = try item.propertyValue(forKey: "data") })
    try item.setValue("d", forKey: "name")
    try child.save()
    try context.save()
    expectMissing(bench.error { _ = try item.propertyValue(forKey: "data") })
    context.persistentStoreCoordinator.close()
    #expect(try bench.namedFiles().contains(missing.lastPathComponent))
  }

  @Test(arguments: [StoreType.binary, .sqlite])
  func conversionsRefuse(_ type: StoreType) throws {
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.url())
    let url = bench.url("Copy.store")
    expectMissing(bench.error { try coordinator.copyPersistentStore(store, to: url, type: type) })
    expectMissing(bench.error { _ = try coordinator.convert(store, to: url, type: type) })
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test func theRecordCanBeDeleted() throws {
    let context = try bench.context()
    context.delete(try item("b", context))
    try context.save()
    context.persistentStoreCoordinator.close()
    #expect(try bench.contents() == ["a": large, "c": nil])
  }

  @Test func itIsTold() throws {
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.url())
    let found = try store.engine.unreadableValues(limit: 10)
    #expect(found.count == 1 && found.values.first?.costsValueOnly == true)
    expectMissing(found.values.first?.error)
    expectMissing(bench.error { _ = try store.engine.contents() })
    #expect(try store.engine.contents(withUnreadable: true).count == 4)
  }

  @Test(.enabled(if: getuid() != 0, "the superuser may read all files"))
  func aFileThatMayNotBeReadIsTheSame() throws {
    try large.write(to: missing)
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: missing.path)
    expectMissing(bench.error { _ = try item("b", try bench.context()).propertyValue(forKey: "data") })
  }

  @Test func aFolderInItsPlaceIsTheSame() throws {
    try FileManager.default.createDirectory(at: missing, withIntermediateDirectories: false)
    let context = try bench.context()
    #expect(try bench.items(context).count == 3)
    expectMissing(bench.error { _ = try item("b", context).propertyValue(forKey: "data") })
  }
}
