import Dispatch
import Foundation
import HeartwoodModel
import HeartwoodStore
import Synchronization
import Testing

@Suite struct EngineSavingTests {
  enum Place: CaseIterable {
    case file, memory
  }

  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  private func open(_ place: Place) throws -> AtomicStoreEngine {
    place == .file ? try fixture.open() : try fixture.openInMemory()
  }

  // MARK: Inserting

  @Test(arguments: Place.allCases)
  func newRecordsGetPermanentIDsOfTheStore(_ place: Place) throws {
    let engine = try open(place)
    let snapshots = (0..<3).map { fixture.inserted(fixture.task, ["name": .string("\($0)")]) }
    let ids = try engine.save(ChangeSet(inserted: snapshots)).permanentIDs
    #expect(ids.count == 3)
    for snapshot in snapshots {
      let id = try #require(ids[snapshot.objectID])
      #expect(!id.isTemporaryID && id.storeIdentifier == engine.metadata.identifier && id.entity === fixture.task)
      let table = try engine.table(of: fixture.task)
      #expect(try table.row(of: id.reference).map(table.version) == 1)
    }
    #expect(try engine.nodes(of: fixture.task).map(\.objectID) == snapshots.compactMap { ids[$0.objectID] })
    #expect(try engine.count(of: fixture.task) == 3)
  }

  @Test(arguments: Place.allCases)
  func insertedRecordsLeadToEachOther(_ place: Place) throws {
    let engine = try open(place)
    let project = fixture.temporaryID(fixture.project)
    let (task, chore) = (fixture.temporaryID(fixture.task), fixture.temporaryID(fixture.chore))
    let ids = try engine.save(
      ChangeSet(inserted: [
        fixture.inserted(task, ["project": .toOne(project), "after": .toOne(chore)]),
        fixture.inserted(chore, ["project": .toOne(project), "after": .toOne(chore)]),
        fixture.inserted(project, ["tasks": .toMany([chore, task])]),
      ])
    ).permanentIDs
    let permanent = try [project, task, chore].map { try #require(ids[$0]) }
    #expect(try engine.nodes(of: fixture.project)[0]["tasks"] == .toMany([permanent[2], permanent[1]]))
    #expect(try engine.nodes(of: fixture.task)[0]["after"] == .toOne(permanent[2]))
    #expect(try engine.nodes(of: fixture.chore)[0]["after"] == .toOne(permanent[2]))
    #expect(try engine.nodes(of: fixture.chore)[0]["project"] == .toOne(permanent[0]))
  }

  @Test(arguments: Place.allCases)
  func referencesThatAreGivenAreKept(_ place: Place) throws {
    let engine = try open(place)
    let contents = try engine.contents()
    let ids = ([.integer(5), .string("five")] as [ReferenceID]).map { contents.objectID($0, of: fixture.task) }
    let result = try engine.save(ChangeSet(inserted: ids.map { fixture.inserted($0) }))
    #expect(result.permanentIDs == Dictionary(uniqueKeysWithValues: ids.map { ($0, $0) }))
    #expect(try engine.nodes(of: fixture.task).map(\.reference) == [.integer(5), .string("five")])
    #expect(errorCode { _ = try engine.save(ChangeSet(inserted: [fixture.inserted(ids[0])])) } == .duplicateReference)
    #expect(try engine.count(of: fixture.task) == 2)

    let node = try engine.nodes(of: fixture.task)[0]
    let swap = ChangeSet(inserted: [fixture.inserted(ids[0], ["name": "new"])], deleted: [fixture.deletion(node)])
    _ = try engine.save(swap)
    #expect(try engine.nodes(of: fixture.task).map(\.reference) == [.string("five"), .integer(5)])
  }

  @Test func numbersAreGivenOnceOnly() throws {
    let engine = try fixture.openInMemory()
    let contents = try engine.contents()
    func insert(_ reference: ReferenceID? = nil) throws -> ReferenceID? {
      let id = reference.map { contents.objectID($0, of: fixture.task) } ?? fixture.temporaryID(fixture.task)
      return try engine.save(ChangeSet(inserted: [fixture.inserted(id)])).permanentIDs[id]?.reference
    }
    _ = try insert(.integer(7))
    _ = try engine.save(ChangeSet(deleted: try engine.nodes(of: fixture.task).map(fixture.deletion)))
    #expect(try insert() == .integer(8))
    #expect(try insert(.integer(20)) == .integer(20))
    #expect(try insert() == .integer(21))
    #expect(try insert(.integer(.max - 1)) == .integer(.max - 1))
    #expect(errorCode { _ = try insert() } == .capabilityMissing)
    #expect(try engine.count(of: fixture.task) == 4)
  }

  // MARK: Updating and deleting

  @Test(arguments: Place.allCases)
  func updatesRaiseVersionsAndDeletionsEndRecords(_ place: Place) throws {
    let engine = try open(place)
    _ = try engine.save(ChangeSet(inserted: ["a", "b", "c"].map { fixture.inserted(fixture.task, ["name": $0]) }))
    let older = try engine.contents()
    let (a, b) = (try engine.node(named: "a", of: fixture.task), try engine.node(named: "b", of: fixture.task))
    _ = try engine.save(
      ChangeSet(updated: [try fixture.updated(a, ["name": "A", "memo": "changed"])], deleted: [fixture.deletion(b)])
    )
    let nodes = try engine.nodes(of: fixture.task)
    #expect(nodes.map { $0["name"] } == ["A", "c"])
    #expect(nodes.map(\.version) == [2, 1])
    #expect(nodes[0]["memo"] == "changed" && nodes[0].objectID == a.objectID)
    #expect(try engine.table(of: fixture.task).row(of: b.reference) == nil)
    #expect(older.nodes(of: fixture.task).map { $0["name"] } == ["a", "b", "c"])
    #expect(older.nodes(of: fixture.task).map(\.version) == [1, 1, 1])
  }

  enum Stale: CaseIterable {
    case updated, deleted
  }

  @Test(arguments: Place.allCases, Stale.allCases)
  func changeOfAnOlderVersionIsAConflictAndChangesNothing(_ place: Place, _ stale: Stale) throws {
    let engine = try open(place)
    _ = try engine.save(ChangeSet(inserted: ["a", "b"].map { fixture.inserted(fixture.task, ["name": $0]) }))
    let seen = try engine.node(named: "a", of: fixture.task)
    let theirs =
      stale == .updated
      ? ChangeSet(updated: [try fixture.updated(seen, ["memo": "theirs"])])
      : ChangeSet(deleted: [fixture.deletion(seen)])
    _ = try engine.save(theirs)
    let (bytes, nodes) = (fixture.fileBytes, try engine.nodes(of: fixture.task).map(\.values))
    let b = try engine.node(named: "b", of: fixture.task)
    for mine in [
      ChangeSet(inserted: [fixture.inserted(fixture.task)], updated: [try fixture.updated(seen, ["memo": "mine"])]),
      ChangeSet(updated: [try fixture.updated(b, ["memo": "mine"])], deleted: [fixture.deletion(seen)]),
    ] {
      let error = #expect(throws: PersistenceError.self) { try engine.save(mine) }
      #expect(error?.code == .saveConflict)
      #expect(error?.context.objectIDs == [seen.objectID])
    }
    #expect(fixture.fileBytes == bytes)
    #expect(try engine.nodes(of: fixture.task).map(\.values) == nodes)
  }

  @Test func objectThatIsUpdatedAndDeletedIsDeleted() throws {
    let engine = try fixture.openInMemory()
    _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": "a"])]))
    let node = try engine.node(named: "a", of: fixture.task)
    _ = try engine.save(
      ChangeSet(
        updated: [try fixture.updated(node, ["memo": "x"])],
        deleted: [fixture.deletion(node), fixture.deletion(node)]
      )
    )
    #expect(try engine.contents().count == 0)
  }

  // MARK: Refusals

  @Test(arguments: Place.allCases)
  func whatDoesNotFitIsRefusedAndChangesNothing(_ place: Place) throws {
    let engine = try open(place)
    _ = try engine.save(ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": "a"])]))
    let bytes = fixture.fileBytes
    for (changes, code) in try refusals(engine) {
      #expect(errorCode { _ = try engine.save(changes) } == code, "\(code)")
    }
    #expect(fixture.fileBytes == bytes)
    #expect(try engine.names(of: fixture.task) == ["a"])
    #expect(try engine.contents().count == 1)
  }

  private func refusals(_ engine: AtomicStoreEngine) throws -> [(ChangeSet, PersistenceError.Code)] {
    let node = try engine.nodes(of: fixture.task)[0]
    let elsewhere = ManagedObjectID(
      scope: ObjectIDScope(storeIdentifier: UUID(), entity: fixture.task),
      reference: node.reference
    )
    let unsaved = fixture.temporaryID(fixture.project)
    let repeated = fixture.inserted(fixture.task)
    let stranger = try EngineFixture.model(extra: .entity("Person")).entities.last
    func insert(_ named: [String: PropertyValue]) -> ChangeSet {
      ChangeSet(inserted: [fixture.inserted(fixture.task, named)])
    }
    return [
      (ChangeSet(inserted: [fixture.inserted(fixture.item)]), .entityUnknown),
      (ChangeSet(inserted: [fixture.inserted(try #require(stranger))]), .entityUnknown),
      (ChangeSet(inserted: [repeated, repeated]), .duplicateReference),
      (ChangeSet(inserted: [fixture.inserted(elsewhere)]), .objectNotFound),
      (ChangeSet(inserted: [.init(objectID: unsaved, version: 0, values: [])]), .modelIncompatible),
      (ChangeSet(updated: [.init(objectID: elsewhere, baseVersion: 1, values: [])]), .objectNotFound),
      (ChangeSet(updated: [.init(objectID: node.objectID, baseVersion: 1, values: [(99, .null)])]), .modelIncompatible),
      (ChangeSet(deleted: [.init(objectID: elsewhere, baseVersion: 1)]), .objectNotFound),
      (insert(["name": .integer(1)]), .valueTypeMismatch),
      (insert(["project": .toMany([])]), .valueTypeMismatch),
      (insert(["project": .toOne(unsaved)]), .danglingReference),
      (insert(["after": .toOne(elsewhere)]), .danglingReference),
      (insert(["project": .toOne(node.objectID)]), .valueTypeMismatch),
      (ChangeSet(updated: [try fixture.updated(node, ["after": .toOne(unsaved)])]), .danglingReference),
    ]
  }

  @Test func entityOfAnotherConfigurationIsRefused() throws {
    let engine = try fixture.open(configuration: "Notes")
    let changes = ChangeSet(inserted: [fixture.inserted(fixture.task)])
    #expect(errorCode { _ = try engine.save(changes) } == .entityUnknown)
    #expect(fixture.fileBytes == nil)
  }

  @Test func equalModelMadeElsewhereIsTheSame() throws {
    let engine = try fixture.openInMemory()
    let copy = try EngineFixture()
    let ids = try engine.save(ChangeSet(inserted: [copy.inserted(copy.task, ["name": "a"])])).permanentIDs
    #expect(ids.values.first?.entity === fixture.task)
    #expect(try engine.names(of: fixture.task) == ["a"])
  }

  // MARK: Several at once

  @Test(arguments: Place.allCases)
  func savesAtTheSameTimeAllArrive(_ place: Place) throws {
    let engine = try open(place)
    let fixture = fixture
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { saver in
      do {
        for number in 0..<5 {
          _ = try engine.save(
            ChangeSet(inserted: [fixture.inserted(fixture.task, ["name": .string("\(saver)-\(number)")])])
          )
          let contents = try engine.contents()
          if contents.count != Array(contents.nodes(of: fixture.task)).count { failures.withLock { $0.append("torn") } }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(Set(try engine.names(of: fixture.task)).count == 40)
    if place == .file { #expect(try fixture.open().count(of: fixture.task) == 40) }
  }
}
