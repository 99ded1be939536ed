import MagicalRecord
import Synchronization
import Testing

/// A note, as heartwood-coredata rewrites it: `@NSManaged var text: String?` has become accessors.
final class Note: NSManagedObject {
  var text: String? {
    get { managedValue(forKey: "text") }
    set { setManagedValue(newValue, forKey: "text") }
  }
  var stars: Int32 {
    get { managedValue(forKey: "stars") }
    set { setManagedValue(newValue, forKey: "stars") }
  }

  static func model() -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType, _ value: Any? = nil) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.defaultValue) = (name, type, value)
      return attribute
    }
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = NSStringFromClass(Note.self)
    note.properties = [attribute("text", .stringAttributeType), attribute("stars", .integer32AttributeType, 0)]
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }
}

/// The stack is one for the whole program.
@Suite(.serialized) @MainActor struct MagicalRecordTests {
  init() {
    MagicalRecord.cleanUp()
    NSManagedObjectModel.mr_setDefaultManagedObjectModel(Note.model())
  }

  private func insertNotes() {
    MagicalRecord.setupCoreDataStackWithInMemoryStore()
    for (text, stars) in [("a", 3), ("b", 1), ("c", 2), ("c", 5)] as [(String, Int32)] {
      let note = Note.mr_createEntity()
      note?.text = text
      note?.stars = stars
    }
    NSManagedObjectContext.mr_default().mr_saveToPersistentStoreAndWait()
  }

  private func texts(_ notes: [NSManagedObject]?) -> [String?] { (notes as? [Note])?.map(\.text) ?? [] }

  @Test func objectsAreFound() {
    insertNotes()
    #expect(!NSManagedObjectContext.mr_default().hasChanges && !NSManagedObjectContext.mr_rootSaving().hasChanges)
    #expect(Note.mr_findAll()?.count == 4 && Note.mr_countOfEntities() == 4 && Note.mr_hasAtLeastOneEntity())
    #expect(texts(Note.mr_findAllSorted(by: "stars", ascending: false)) == ["c", "a", "c", "b"])
    #expect((Note.mr_findAllSorted(by: "text:NO,stars", ascending: true) as? [Note])?.map(\.stars) == [2, 5, 1, 3])
    let many = NSPredicate(format: "stars > 1")
    #expect(texts(Note.mr_findAllSorted(by: "text", ascending: true, with: many)) == ["a", "c", "c"])
    #expect(Note.mr_findAll(with: many)?.count == 3 && Note.mr_countOfEntities(with: many) == 3)
    #expect(Note.mr_find(byAttribute: "text", withValue: "c")?.count == 2)
    let ordered = Note.mr_find(byAttribute: "text", withValue: "c", andOrderBy: "stars", ascending: true)
    #expect((ordered as? [Note])?.map(\.stars) == [2, 5])
    #expect(Note.mr_findFirst(byAttribute: "stars", withValue: Int64(1))?.text == "b")
    #expect(Note.mr_findFirst(byAttribute: "text", withValue: "z") == nil)
    #expect(Note.mr_findFirstOrdered(byAttribute: "stars", ascending: false)?.stars == 5)
    #expect(Note.mr_findFirst(with: many, sortedBy: "stars", ascending: true)?.stars == 2)
    let context = NSManagedObjectContext.mr_context()
    context.performAndWait { #expect(Note.mr_findFirst(in: context)?.managedObjectContext === context) }
  }

  @Test func aggregatesAreComputed() {
    insertNotes()
    #expect(Note.mr_aggregateOperation("sum:", onAttribute: "stars", with: nil) as? Int == 11)
    let predicate = NSPredicate(format: "text == 'c'")
    #expect(Note.mr_aggregateOperation("max:", onAttribute: "stars", with: predicate) as? Int == 5)
    let groups = Note.mr_aggregateOperation("sum:", onAttribute: "stars", with: nil, groupBy: "text")
    let sums = groups?.compactMap { $0 as? NSDictionary }.map { ($0["text"] as? String, $0["result"] as? Int) }
    #expect(sums?.count == 3 && sums?.first { $0.0 == "c" }?.1 == 7)
    #expect(Note.mr_findFirst()?.mr_objectWithMinValue(for: "stars")?.value(forKey: "text") as? String == "b")
  }

  @Test func objectsAreMadeAndDeleted() throws {
    insertNotes()
    let a = try #require(Note.mr_findFirst(byAttribute: "text", withValue: "a"))
    #expect(Note.mr_findFirstOrCreate(byAttribute: "text", withValue: "a") === a)
    #expect(Note.mr_findFirstOrCreate(byAttribute: "text", withValue: "new").isInserted)
    a.mr_deleteEntity()
    #expect(a.isDeleted && Note.mr_countOfEntities() == 4)
    Note.mr_deleteAll(matching: NSPredicate(format: "text == 'c'"))
    #expect(Note.mr_countOfEntities() == 2)
    Note.mr_truncateAll()
    #expect(!Note.mr_hasAtLeastOneEntity())
  }

  @Test func blocksAreSaved() async {
    insertNotes()
    MagicalRecord.save(blockAndWait: { context in
      Note.mr_createEntity(in: context)?.text = "waited"
    })
    #expect(Note.mr_findFirst(byAttribute: "text", withValue: "waited") != nil)
    let saved = await withCheckedContinuation { continuation in
      MagicalRecord.save({ context in
        Note.mr_findFirst(byAttribute: "text", withValue: "a", in: context)?.stars = 9
      }) { didSave, error in
        continuation.resume(returning: didSave && error == nil)
      }
    }
    #expect(saved && Note.mr_countOfEntities(with: NSPredicate(format: "stars == 9")) == 1)
    let unchanged = await withCheckedContinuation { continuation in
      NSManagedObjectContext.mr_default().mr_saveToPersistentStore { didSave, _ in
        continuation.resume(returning: didSave)
      }
    }
    #expect(!unchanged)
    Note.mr_findFirst()?.text = "own"
    NSManagedObjectContext.mr_default().mr_saveOnlySelfAndWait()
    #expect(NSManagedObjectContext.mr_rootSaving().performAndWait { NSManagedObjectContext.mr_rootSaving().hasChanges })
  }

  @Test func storesAreSetUpByURLAndMigrated() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("MagicalRecord-" + UUID().uuidString)
    defer {
      // try?: a folder that is left is harmless.
      try? FileManager.default.removeItem(at: folder)
    }
    let url = folder.appendingPathComponent("Notes.sqlite")
    MagicalRecord.setupCoreDataStack(withAutoMigratingSqliteStoreAt: url)
    Note.mr_createEntity()?.text = "kept"
    NSManagedObjectContext.mr_default().mr_saveToPersistentStoreAndWait()
    MagicalRecord.cleanUp()
    #expect(NSPersistentStoreCoordinator.mr_default() == nil)

    let errors = Mutex(0)
    MagicalRecord.errorHandler = { _ in errors.withLock { $0 += 1 } }
    defer { MagicalRecord.errorHandler = nil }
    let other = Note.model()
    other.entities[0].properties.removeLast()
    NSManagedObjectModel.mr_setDefaultManagedObjectModel(other)
    MagicalRecord.setupCoreDataStack(withStoreAt: url)
    #expect(NSPersistentStoreCoordinator.mr_default() == nil && errors.withLock { $0 } == 1)

    MagicalRecord.setShouldDeleteStoreOnModelMismatch(true)
    MagicalRecord.setupCoreDataStack(withStoreAt: url)
    #expect(NSPersistentStoreCoordinator.mr_default() != nil && Note.mr_countOfEntities() == 0)
    MagicalRecord.cleanUp()
  }
}
