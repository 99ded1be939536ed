import Foundation
import Heartwood
import HeartwoodTesting
import Testing

/// A store of an author's own that adds saves to the end of its file.
@Suite struct AppendingStoreTests {
  private static let conformance = StoreConformance(
    LedgerStore.self,
    detectsEveryChange: false,
    writesSameBytes: true,
    tellsModelVersion: true,
    options: { _ in StoreOptions() },
    refuses: { _, _ in false }
  )

  @Test(arguments: conformance.cases) func conforms(_ testCase: ConformanceCase) throws { try testCase.run() }

  private let folder: ScratchFolder
  private var url: URL { folder.url.appending(path: "notes.ledger") }
  private static let count = 100

  /// Makes a file with some notes.
  init() throws {
    folder = try ScratchFolder()
    let context = try context()
    for number in 0..<Self.count { try context.insert(entityName: "Note").setValue("note \(number)", forKey: "text") }
    try context.save()
  }

  private func context() throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(entities: [.entity("Note", .attribute("text", .string))]),
      registry: StoreRegistry([LedgerStore.self])
    )
    try coordinator.addPersistentStore(type: LedgerStore.typeDescription.type, at: url)
    return ManagedObjectContext(coordinator)
  }

  private var bytes: [UInt8] { get throws { try [UInt8](Data(contentsOf: url)) } }

  private func notes(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Note", sortedBy: [FetchSortDescriptor("text")]))
  }

  private func texts() throws -> Set<String> {
    Set(try notes(try context()).compactMap { try $0.value(forKey: "text") as? String })
  }

  @Test func aSaveOfFewRecordsIsAdded() throws {
    let (before, context) = (try bytes, try context())
    let notes = try notes(context)
    try notes[0].setValue("changed", forKey: "text")
    context.delete(notes[1])
    try context.insert(entityName: "Note").setValue("new", forKey: "text")
    try context.save()
    #expect(try bytes.starts(with: before) && bytes.count < before.count + 800)
    let added = try bytes
    try notes[2].setValue("changed later", forKey: "text")
    try context.save()
    #expect(try bytes.starts(with: added) && bytes.count > added.count)
    let texts = try texts()
    #expect(texts.count == Self.count && texts.isSuperset(of: ["changed", "changed later", "new"]))
    #expect(texts.isDisjoint(with: ["note 0", "note 1", "note 10"]))
  }

  @Test func manyChangesAndOtherMetadataAreWrittenWithTheWholeFile() throws {
    let (before, context) = (try bytes, try context())
    for note in try notes(context) { try note.setValue("all the same", forKey: "text") }
    try context.save()
    #expect(try !bytes.starts(with: before))
    let all = try bytes
    let store = try #require(context.persistentStoreCoordinator.persistentStores.first)
    try store.setUserInfo(["title": .string("Notes")])
    try notes(context)[0].setValue("one", forKey: "text")
    try context.save()
    #expect(try !bytes.starts(with: all))
    let other = try self.context()
    #expect(other.persistentStoreCoordinator.persistentStores[0].metadata.userInfo["title"] == .string("Notes"))
  }

  /// Wherever a crash ends the writing, the file is as it was before, and the next save is added behind that.
  @Test func whatAnInterruptedSaveLeavesDoesNotCount() throws {
    let before = try bytes
    let context = try context()
    try notes(context)[0].setValue("changed", forKey: "text")
    try context.save()
    let after = try bytes
    context.persistentStoreCoordinator.close()
    for length in before.count..<after.count {
      try Data(after[..<length]).write(to: url)
      #expect(try texts().contains("note 0"), "\(length) bytes")
    }
    try Data(after[..<(after.count - 1)]).write(to: url)
    let other = try self.context()
    try notes(other)[5].setValue("next", forKey: "text")
    try other.save()
    let texts = try texts()
    #expect(texts.isSuperset(of: ["note 0", "next"]) && !texts.contains("changed"))
    #expect(try bytes.starts(with: before))
  }
}
