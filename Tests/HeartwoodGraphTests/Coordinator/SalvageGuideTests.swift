import Foundation
import Heartwood
import HeartwoodTesting
import Testing

/// What the article on damaged stores shows.
@Suite struct SalvageGuideTests {
  private let scratch: ScratchFolder
  private let model: ManagedObjectModel

  init() throws {
    scratch = try ScratchFolder()
    model = try ManagedObjectModel(entities: [.entity("Note", .attribute("text", .string))])
  }

  func rescue(_ damaged: URL, to rescued: URL, _ coordinator: PersistentStoreCoordinator) throws -> [String] {
    let report = try coordinator.salvageStore(at: damaged, to: rescued)
    if report.isComplete { return [] }
    let lost = report.losses.filter { $0.kind == .records }
    return ["\(report)"] + lost.map { "\($0)" }
  }

  @Test func whatIsSoundIsRescued() throws {
    let (damaged, rescued) = (scratch.url.appending(path: "notes.csv"), scratch.url.appending(path: "notes.heartwood"))
    try scratch.write("#D35CF030-1EC1-4667-9666-70C8247A1010\none, 1\ntwo\nthree, 3\n", to: "notes.csv")
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    #expect(throws: PersistenceError.self) { try coordinator.addPersistentStore(at: damaged) }
    #expect(
      try rescue(damaged, to: rescued, coordinator) == [
        "2 records written; 1 record lost",
        "Note, 1 record, line 3, bytes 45 to 49: The record has 1 field where 2 are expected.",
      ]
    )
    try coordinator.addPersistentStore(at: rescued)
    #expect(try ManagedObjectContext(coordinator).fetch(entityName: "Note").count == 2)
    // Nothing was wrong with what was written.
    #expect(
      try rescue(
        rescued,
        to: scratch.url.appending(path: "again.plist"),
        PersistentStoreCoordinator(managedObjectModel: model)
      ).isEmpty
    )
  }
}
