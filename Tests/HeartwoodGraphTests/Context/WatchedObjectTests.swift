import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Whether somebody is on call. Its own validation lets others come between the gathering of a save and its writing.
private final class Doctor: ManagedObject {
  static let isOnCallKey = AttributeKey<Bool>("isOnCall")
  var whileValidating: () throws -> Void = {}

  var isOnCall: Bool {
    get { self[Self.isOnCallKey] }
    set { self[Self.isOnCallKey] = newValue }
  }

  override func validateForUpdate() throws { try whileValidating() }
}

@Suite struct WatchedObjectTests {
  private static let url = URL(filePath: "/doctors.heartwood")
  private let files = InMemoryFileSystem()

  private func coordinator(_ type: StoreType = .binary) throws -> PersistentStoreCoordinator {
    let model = try ManagedObjectModel(entities: [
      .entity("Doctor", .attribute("isOnCall", .boolean, default: .boolean(true)))
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      objectClasses: [Doctor.self],
      fileSystem: files
    )
    try coordinator.addPersistentStore(type: type, at: type == .binary ? Self.url : nil)
    return coordinator
  }

  private func makeDoctors(_ coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(coordinator)
    for _ in 0..<2 { _ = try context.insert(Doctor.self) }
    try context.save()
  }

  /// Changes an object while another context changes one that is watched, just before the store is written.
  private func race(_ context: ManagedObjectContext, against other: ManagedObjectContext) throws -> PersistenceError? {
    let mine = try context.fetch(Doctor.self)
    let theirs = try other.fetch(Doctor.self)
    #expect(mine[1].isOnCall && theirs[0].isOnCall)
    mine[0].isOnCall = false
    mine[0].whileValidating = {
      if other.hasChanges { try other.save() }
    }
    context.detectConflicts(for: mine[1])
    theirs[1].isOnCall = false
    let error = persistenceError { try context.save() }
    #expect(mine[0].isUpdated == (error != nil))
    if error != nil { #expect(error?.context.objectIDs == [mine[1].objectID]) }
    return error
  }

  @Test(arguments: [StoreType.inMemory, .binary])
  func whatOthersSaveAtTheLastMomentIsNoticed(_ type: StoreType) throws {
    let coordinator = try coordinator(type)
    try makeDoctors(coordinator)
    let context = ManagedObjectContext(coordinator)
    // What is watched is for nobody to decide but whoever watches.
    context.mergePolicy = .overwrite
    let error = try race(context, against: ManagedObjectContext(coordinator))
    #expect(error?.code == .saveConflict)
    let mine = try context.fetch(Doctor.self)
    context.refresh(mine[1], mergeChanges: false)
    #expect(!mine[1].isOnCall)
    mine[0].isOnCall = true
    try context.save()
  }

  @Test func whatAChildSavesAtTheLastMomentIsNoticed() throws {
    let coordinator = try coordinator()
    try makeDoctors(coordinator)
    let parent = ManagedObjectContext(coordinator)
    let error = try race(ManagedObjectContext(parent: parent), against: ManagedObjectContext(parent: parent))
    #expect(error?.code == .saveConflict)
  }

  @Test func whatAnotherCoordinatorSavesIsNoticed() throws {
    try makeDoctors(try coordinator())
    let (first, second) = (try coordinator(), try coordinator())
    let mine = ManagedObjectContext(first)
    let theirs = ManagedObjectContext(second)
    let doctors = try mine.fetch(Doctor.self)
    let others = try theirs.fetch(Doctor.self)
    doctors[0].isOnCall = false
    mine.detectConflicts(for: doctors[1])
    others[1].isOnCall = false
    try theirs.save()
    #expect(persistenceError { try mine.save() }?.code == .fileChangedOnDisk)
  }

  /// Each doctor may go off call as long as another stays.
  @Test(arguments: [1, 2])
  func oneOfTwoStaysOnCall(_ coordinatorCount: Int) async throws {
    for _ in 0..<20 {
      try? files.removeFile(atPath: Self.url.path)
      let first = try coordinator()
      try makeDoctors(first)
      let coordinators = [first] + (try (1..<coordinatorCount).map { _ in try coordinator() })
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<2 {
          let coordinator = coordinators[number % coordinators.count]
          group.addTask { Self.goOffCall(number, coordinator) }
        }
      }
      let doctors = try ManagedObjectContext(try coordinator()).fetch(Doctor.self)
      #expect(doctors.filter(\.isOnCall).count == 1)
    }
  }

  private static func goOffCall(_ number: Int, _ coordinator: PersistentStoreCoordinator) {
    let context = ManagedObjectContext(coordinator)
    let error = persistenceError {
      let doctors = try context.fetch(Doctor.self)
      guard doctors[1 - number].isOnCall else { return }
      doctors[number].isOnCall = false
      context.detectConflicts(for: doctors[1 - number])
      try context.save()
    }
    if let error { #expect(error.code == .saveConflict || error.code == .fileChangedOnDisk) }
  }
}
