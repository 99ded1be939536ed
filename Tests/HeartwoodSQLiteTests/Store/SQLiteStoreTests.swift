import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// What an SQLite store does beside what all stores do.
@Suite struct SQLiteStoreTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(FeatureModel.model())
  }

  private var url: URL { bench.url() }

  private func context(_ options: StoreOptions = StoreOptions()) throws -> ManagedObjectContext {
    try bench.context(options: options)
  }

  private func insert(
    _ entity: String,
    _ values: [String: Any],
    in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try context.insert(entityName: entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    return object
  }

  private func objects(_ entity: String, _ context: ManagedObjectContext, by key: String) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity, sortedBy: [FetchSortDescriptor(key)]))
  }

  // MARK: Records

  @Test func recordsExchangeValuesThatMustBeUnique() throws {
    let context = try context()
    let books = try ["1", "2", "3"].map { try insert("Book", ["title": "A", "isbn": $0], in: context) }
    try context.save()
    try books[0].setValue("2", forKey: "isbn")
    try books[1].setValue("1", forKey: "isbn")
    try books[2].setValue(nil, forKey: "isbn")
    _ = try insert("Book", ["title": "B", "isbn": "3"], in: context)
    try context.save()
    let other = try self.context()
    let numbers = try objects("Book", other, by: "isbn").map { try $0.value(forKey: "isbn") as? String }
    #expect(numbers == [nil, "1", "2", "3"])
  }

  @Test func everyPropertyComesBack() throws {
    let context = try context()
    let uuid = UUID()
    let born = Date(timeIntervalSinceReferenceDate: -1234.5)
    let ann = try insert(
      "Person",
      [
        "name": "Ann \u{0}\u{1F600}", "born": born, "key": uuid, "portrait": Data([0, 1, 2]), "thumbnail": Data(),
        "score": Float(1.5), "page": try #require(URL(string: "https://example.org/ann")), "colour": Data([9]),
      ],
      in: context
    )
    let bob = try insert("Person", ["name": "", "portrait": Data()], in: context)
    let book = try insert("Book", ["title": "B", "price": Decimal(string: "12.34") as Any, "count": 3], in: context)
    let novel = try insert("Novel", ["title": "N", "isTranslated": true], in: context)
    let album = try insert("Album", ["title": "A", "length": 61.25], in: context)
    let notes = try ["x", "y"].map { try insert("Note", ["text": $0], in: context) }
    let tags = try ["red", "blue"].map { try insert("Tag", ["name": $0], in: context) }
    try ann.setValue([novel, book, album], forKey: "media")
    try ann.setValue(notes, forKey: "notes")
    try ann.setValue([bob, ann], forKey: "friends")
    try ann.setValue([bob], forKey: "follows")
    try ann.setValue(novel, forKey: "favourite")
    try book.setValue([tags[1], tags[0]], forKey: "tags")
    try context.save()

    let again = try self.context()
    let people = try objects("Person", again, by: "name")
    #expect(people.count == 2)
    let found = people[1]
    #expect(try found.value(forKey: "name") as? String == "Ann \u{0}\u{1F600}")
    #expect(try found.value(forKey: "born") as? Date == born)
    #expect(try found.value(forKey: "key") as? UUID == uuid)
    #expect(try found.value(forKey: "portrait") as? Data == Data([0, 1, 2]))
    #expect(try found.value(forKey: "thumbnail") as? Data == Data())
    #expect(try people[0].value(forKey: "portrait") as? Data == Data())
    #expect(try people[0].value(forKey: "thumbnail") == nil)
    #expect(try found.value(forKey: "score") as? Float == 1.5)
    #expect(try found.value(forKey: "page") as? URL == URL(string: "https://example.org/ann"))
    #expect(try titles(found, "media") == ["N", "B", "A"])
    #expect(try (found.value(forKey: "favourite") as? ManagedObject)?.entity.name == "Novel")
    #expect(try related(found, "notes").count == 2)
    #expect(try Set(related(found, "friends").map(\.objectID)) == Set(people.map(\.objectID)))
    #expect(try related(people[0], "friends").map(\.objectID) == [found.objectID])
    #expect(try related(people[0], "followers").map(\.objectID) == [found.objectID])
    #expect(try related(people[0], "follows").isEmpty)
    let again1 = try #require(try objects("Book", again, by: "title").first)
    #expect(try again1.value(forKey: "price") as? Decimal == Decimal(string: "12.34"))
    #expect(try related(again1, "tags").map { try $0.value(forKey: "name") as? String } == ["blue", "red"])
  }

  private func related(_ object: ManagedObject, _ key: String) throws -> [ManagedObject] {
    let value = try object.value(forKey: key)
    return (value as? [ManagedObject]) ?? (value as? Set<ManagedObject>).map(Array.init) ?? []
  }

  private func titles(_ object: ManagedObject, _ key: String) throws -> [String?] {
    try related(object, key).map { try $0.value(forKey: "title") as? String }
  }

  @Test func relationshipsAreEditedInPlace() throws {
    let context = try context()
    let ann = try insert("Person", ["name": "Ann", "portrait": Data()], in: context)
    let bob = try insert("Person", ["name": "Bob", "portrait": Data()], in: context)
    let albums = try ["a", "b", "c"].map { try insert("Album", ["title": $0, "length": 1.0], in: context) }
    let notes = try ["x", "y"].map { try insert("Note", ["text": $0], in: context) }
    try ann.setValue(albums, forKey: "media")
    try ann.setValue(notes, forKey: "notes")
    try ann.setValue([bob], forKey: "friends")
    try context.save()
    try ann.setValue([albums[2], albums[0]], forKey: "media")
    try ann.setValue([notes[1]], forKey: "notes")
    try ann.setValue([ann], forKey: "friends")
    try context.save()
    let again = try self.context()
    let found = try objects("Person", again, by: "name")
    #expect(try titles(found[0], "media") == ["c", "a"])
    #expect(try related(found[0], "notes").map { try $0.value(forKey: "text") as? String } == ["y"])
    #expect(try related(found[0], "friends").map(\.objectID) == [found[0].objectID])
    #expect(try related(found[1], "friends").isEmpty)
    let orphan = try objects("Album", again, by: "title")[1]
    #expect(try orphan.value(forKey: "owner") == nil)
    again.delete(found[0])
    try again.save()
    #expect(try bench.query { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZPERSON") } == 1)
    #expect(try bench.integrity() == "ok")
    #expect(try objects("Album", try self.context(), by: "title").allSatisfy { try $0.value(forKey: "owner") == nil })
  }

  @Test func keysAndVersionsAreKeptAsCoreDataKeepsThem() throws {
    let context = try context()
    let tag = try insert("Tag", ["name": "red"], in: context)
    let book = try insert("Book", ["title": "B"], in: context)
    let album = try insert("Album", ["title": "A", "length": 1.0], in: context)
    try context.save()
    try tag.setValue("blue", forKey: "name")
    try context.save()
    #expect(book.objectID.reference != album.objectID.reference, "both are in the table of the topmost entity")
    let rows = try bench.query {
      try Row.fetchAll($0, sql: "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    }
    let greatest = Dictionary(uniqueKeysWithValues: rows.map { ($0["Z_NAME"] as String, $0["Z_MAX"] as Int) })
    #expect((greatest["Media"] ?? 0) >= 2 && (greatest["Tag"] ?? 0) >= 1)
    #expect(greatest["Book"] == 0, "the count is with the topmost entity")
    #expect(try bench.query { try Int.fetchOne($0, sql: "SELECT Z_OPT FROM ZTAG") } == 2)
  }

  @Test func aDecimalThatARealDoesNotHoldIsRefused() throws {
    let context = try context()
    let book = try insert("Book", ["title": "B"], in: context)
    try context.save()
    try book.setValue(Decimal(string: "0.12345678901234567890123"), forKey: "price")
    #expect(bench.code { try context.save() } == .valueUnsupported)
    try book.setValue(Decimal.nan, forKey: "price")
    try context.save()
    #expect(try bench.query { try String.fetchOne($0, sql: "SELECT ZPRICE FROM ZMEDIA") } == "NaN")
    try book.setValue(Decimal(string: "0.1"), forKey: "price")
    try context.save()
    #expect(try bench.query { try Double.fetchOne($0, sql: "SELECT ZPRICE FROM ZMEDIA") } == 0.1)
  }

  @Test func dataThatSQLiteDoesNotHoldAreRefused() throws {
    let value = StoredValue("Book", "cover", "Store.sqlite")
    let error = #expect(throws: PersistenceError.self) {
      // The bytes are never touched, and so take no memory.
      _ = try value.value(.binary(Data(count: 1_000_000_001)), .blob)
    }
    #expect(error?.code == .valueUnsupported)
    #expect(error?.context.property == "cover")
    #expect(try value.value(.binary(Data([1])), .blob) as? Data == Data([1]))
  }

  @Test func theGreatestVersionIsNoTrap() throws {
    let context = try insertedTag()
    let coordinator = context.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    try DatabaseQueue(path: url.path).write { try $0.execute(sql: "UPDATE ZTAG SET Z_OPT = ?", arguments: [Int64.max]) }
    let again = try self.context()
    let tag = try #require(try objects("Tag", again, by: "name").first)
    try tag.setValue("blue", forKey: "name")
    try again.save()
    #expect(try bench.query { try Int64.fetchOne($0, sql: "SELECT Z_OPT FROM ZTAG") } == .max)
  }

  @Test func aHostileTextIsAValue() throws {
    let context = try context()
    let text = "'; DROP TABLE ZTAG; --"
    _ = try insert("Tag", ["name": text], in: context)
    try context.save()
    #expect(
      try objects("Tag", try self.context(), by: "name").map { try $0.value(forKey: "name") as? String } == [text]
    )
  }

  // MARK: Several who use a file

  @Test func whatOthersSaveShowsWithTheNextFetch() throws {
    let (one, other) = (try context(), try context())
    let tag = try insert("Tag", ["name": "red"], in: one)
    try one.save()
    let theirs = try #require(try objects("Tag", other, by: "name").first)
    #expect(theirs.objectID == tag.objectID)
    try theirs.setValue("blue", forKey: "name")
    try other.save()
    #expect(
      try one.fetch(FetchRequest<ManagedObject>(entityName: "Tag", where: try FetchPredicate(format: "name == 'blue'")))
        .count == 1
    )
    try tag.setValue("green", forKey: "name")
    #expect(bench.code { try one.save() } == .saveConflict)
  }

  @Test func recordsOfTwoWritersGetDifferentKeys() throws {
    let (one, other) = (try context(), try context())
    for index in 0..<3 {
      _ = try insert("Tag", ["name": "one \(index)"], in: one)
      _ = try insert("Tag", ["name": "other \(index)"], in: other)
      try one.save()
      try other.save()
    }
    #expect(try bench.query { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZTAG") } == 6)
  }

  @Test func aSaveThatFailsLeavesTheFile() throws {
    let context = try context()
    _ = try insert("Tag", ["name": "red"], in: context)
    try context.save()
    let writer = try DatabaseQueue(path: url.path)
    try writer.writeWithoutTransaction { db in
      try db.execute(
        sql: "CREATE TRIGGER refuse BEFORE INSERT ON ZNOTE BEGIN SELECT RAISE(ABORT, 'no'); END"
      )
    }
    _ = try insert("Tag", ["name": "blue"], in: context)
    let note = try insert("Note", ["text": "x"], in: context)
    #expect(throws: PersistenceError.self) { try context.save() }
    #expect(context.hasChanges)
    #expect(try bench.query { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZTAG") } == 1)
    context.delete(note)
    try context.save()
    #expect(try bench.query { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZTAG") } == 2)
  }

  // MARK: Files

  @Test func anEmptyFileIsANewStore() throws {
    try Data().write(to: url)
    let context = try context()
    _ = try insert("Tag", ["name": "red"], in: context)
    try context.save()
    #expect(try objects("Tag", try self.context(), by: "name").count == 1)
  }

  @Test func whatIsNoStoreIsRefused() throws {
    try Data("Not a database, but long enough to be one, had it begun otherwise.".utf8).write(to: url)
    #expect(bench.code { _ = try context() } == .fileMalformed)
    try FileManager.default.removeItem(at: url)
    try DatabaseQueue(path: url.path).write { try $0.execute(sql: "CREATE TABLE t (a)") }
    #expect(bench.code { _ = try context() } == .fileMalformed)
  }

  @Test func aStoreOpensWithoutItsModel() throws {
    let context = try context()
    _ = try insert("Tag", ["name": "red"], in: context)
    try context.save()
    let file = try StoreInput(try POSIXFileSystem().openFile(atPath: url.path))
    let embedded = try #require(try SQLiteStore.readModel(from: file, options: StoreOptions()))
    #expect(embedded.entities.map(\.versionHash) == bench.model.entities.map(\.versionHash))
    #expect(try SQLiteStore.readMetadata(from: file, options: StoreOptions()).storeType == .sqlite)
  }

  @Test func aReadOnlyStoreIsReadAndNotWritten() throws {
    _ = try insertedTag()
    var options = StoreOptions()
    options[.isReadOnly] = true
    let context = try context(options)
    let tag = try #require(try objects("Tag", context, by: "name").first)
    try tag.setValue("blue", forKey: "name")
    #expect(bench.code { try context.save() } == .storeReadOnly)
  }

  @Test func aChangedTextKeepsItsZeros() throws {
    let context = try insertedTag()
    let tag = try #require(try objects("Tag", context, by: "name").first)
    try tag.setValue("b\u{0}lue", forKey: "name")
    try context.save()
    let other = try self.context()
    #expect(try objects("Tag", other, by: "name").first?.propertyValue(forKey: "name") == .string("b\u{0}lue"))
  }

  private func insertedTag() throws -> ManagedObjectContext {
    let context = try context()
    _ = try insert("Tag", ["name": "red"], in: context)
    try context.save()
    return context
  }

  @Test func itIsDestroyedWithWhatLiesBesideIt() throws {
    var context: ManagedObjectContext? = try insertedTag()
    let coordinator = try #require(context?.persistentStoreCoordinator)
    context = nil
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    try coordinator.destroyPersistentStore(at: url, type: .sqlite)
    #expect(try bench.scratch.names().isEmpty)
  }

  @Test func itIsConvertedBothWays() throws {
    let context = try insertedTag()
    let coordinator = context.persistentStoreCoordinator
    let binary = bench.url("Store.heartwood")
    let store = try coordinator.convert(coordinator.persistentStores[0], to: binary, type: .binary)
    #expect(try objects("Tag", context, by: "name").count == 1)
    let copy = bench.url("Copy.sqlite")
    try coordinator.convert(store, to: copy, type: .sqlite)
    let tag = try #require(try objects("Tag", context, by: "name").first)
    try tag.setValue("blue", forKey: "name")
    try context.save()
    #expect(
      try DatabaseQueue(path: copy.path).read { try String.fetchOne($0, sql: "SELECT ZNAME FROM ZTAG") } == "blue"
    )
  }

  /// A file has the objects of a relationship without an order in another one than memory.
  @Test func nothingHasChangedInAConvertedStore() throws {
    let bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity("Shelf", .toMany("books", "Book", inverse: "shelf")),
        .entity("Book", .toOne("shelf", "Shelf", inverse: "books")),
      ])
    )
    let coordinator = try bench.coordinator()
    let binary = try coordinator.addPersistentStore(type: .binary, at: bench.url("Store.heartwood"))
    let context = ManagedObjectContext(coordinator)
    let books = try (0..<3).map { _ in try context.insert(entityName: "Book") }
    try context.save()
    try context.insert(entityName: "Shelf").setValue([books[2], books[0], books[1]], forKey: "books")
    try context.save()
    let store = try coordinator.convert(binary, to: bench.url(), type: .sqlite)
    try store.engine.followOthers()
    #expect(store.engine.takeRemoteChanges() == nil)
  }
}
