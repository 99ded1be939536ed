import Foundation
import Heartwood
import HeartwoodDocuments
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

/// What waits for disks and locks keeps no task of the program from running.
@Suite(.timeLimit(.minutes(5)))
struct WaitingTests {
  /// Stalls the disk of a stack while `body` runs. Where that waits for the disk itself, it goes on after a while, and the test has failed.
  private static func withStalledDisk(
    _ files: FaultInjectingFileSystem,
    _ body: () async throws -> Void
  ) async rethrows {
    let rescue = Rescue { files.endStall() }
    files.stall()
    defer {
      files.endStall()
      #expect(!rescue.callOff(), "who must not wait for the disk has waited for it")
    }
    try await body()
  }

  /// Runs as many ticks as tell that tasks of default priority, and the main actor, come to their turn.
  private static func tick() async throws {
    for _ in 0..<20 {
      try await Task.sleep(for: .milliseconds(1))
      await MainActor.run {}
    }
  }

  private static func untilStalled(_ files: FaultInjectingFileSystem, count: Int = 1) async throws {
    while files.stalledCount < count { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// More than there are processors.
  private static let contextCount = ProcessInfo.processInfo.activeProcessorCount + 6

  @Test func contextsThatSaveToAStalledDiskKeepNobodyFromRunning() async throws {
    let stack = try TestStack(.binary)
    try await withThrowingTaskGroup(of: Void.self) { group in
      try await Self.withStalledDisk(stack.files) {
        for number in 0..<Self.contextCount {
          let background = BackgroundContext(stack.coordinator)
          group.addTask {
            try await background.perform { context in
              _ = try context.person("\(number)")
              try context.save()
            }
          }
        }
        try await Self.untilStalled(stack.files)
        try await Self.tick()
      }
      try await group.waitForAll()
    }
    #expect(try stack.context().count(entityName: "Person") == Self.contextCount)
  }

  @Test func storesThatStallTogetherKeepNobodyFromRunning() async throws {
    let stacks = try (0..<Self.contextCount).map { _ in try TestStack(.binary) }
    let rescue = Rescue { for stack in stacks { stack.files.endStall() } }
    for stack in stacks { stack.files.stall() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for stack in stacks {
        let background = BackgroundContext(stack.coordinator)
        group.addTask {
          try await background.perform { context in
            _ = try context.person("Ann")
            try context.save()
          }
        }
      }
      for stack in stacks { try await Self.untilStalled(stack.files) }
      try await Self.tick()
      #expect(!rescue.callOff())
      for stack in stacks { stack.files.endStall() }
      try await group.waitForAll()
    }
  }

  @Test func documentsThatSaveToAStalledDiskKeepNobodyFromRunning() async throws {
    let files = FaultInjectingFileSystem(wrapping: InMemoryFileSystem())
    try await withThrowingTaskGroup(of: Void.self) { group in
      try await Self.withStalledDisk(files) {
        for number in 0..<Self.contextCount {
          group.addTask {
            let document = try await BackgroundDocument(TestStack.coordinator(files))
            try await document.context.perform { context in _ = try context.person("Ann") }
            try await document.save(as: URL(filePath: "/folder/\(number).heartwood"), type: .binary)
          }
        }
        try await Self.untilStalled(files, count: Self.contextCount)
        try await Self.tick()
      }
      try await group.waitForAll()
    }
  }

  @Test func workOnAllProcessorsLeavesTheCooperativeThreadsAlone() async throws {
    let begun = Atomic(0)
    let release = DispatchGroup()
    release.enter()
    let rescue = Rescue { release.leave() }
    async let sum = WaitingWork.run {
      Parallel.map(64) { index in
        begun.wrappingAdd(1, ordering: .relaxed)
        release.wait()
        return index
      }.reduce(0, +)
    }
    while begun.load(ordering: .relaxed) < Parallel.processorCount { try await Task.sleep(for: .milliseconds(1)) }
    try await Self.tick()
    if !rescue.callOff() { release.leave() } else { Issue.record("a task has waited for work on all processors") }
    #expect(await sum == 64 * 63 / 2)
  }

  @Test func fiftyContextsThatSaveAtOnceAllSucceed() async throws {
    for kind in TestStoreKind.allCases {
      let stack = try TestStack(kind)
      let setUp = stack.context()
      let ids = try ["Ann", "Bob"].map { try setUp.person($0) }
      try setUp.save()
      let (ann, bob) = (ids[0].objectID, ids[1].objectID)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<50 {
          let background = BackgroundContext(stack.coordinator)
          group.addTask {
            try await background.perform { context in
              context.mergePolicy = number % 2 == 0 ? .mergeByPropertyObjectTrump : .overwrite
              for id in [ann, bob] { (try context.existingObject(with: id) as? Person)?.name = "\(number)" }
              _ = try context.person("New \(number)")
              try context.save()
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try stack.context().count(entityName: "Person") == 52, "\(kind)")
    }
  }

  /// A save that meets others again and again goes alone, and what is saved on the way by who is told of it goes with it.
  @Test(arguments: TestStoreKind.allCases)
  func whoIsToldOfASaveMaySaveAnotherContext(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let setUp = stack.context()
    let ann = try setUp.person("Ann")
    try setUp.save()
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    var count = 0
    var failure: (any Error)?
    let id = ann.objectID
    let observation = context.observe(.objectsDidChange) { _ in
      count += 1
      guard count < 8 else { return }
      // Between the resolution of a conflict and the next attempt.
      do { try stack.context().rename(id, to: "\(count)") } catch { failure = error }
    }
    (try context.existingObject(with: id) as? Person)?.name = "Anna"
    try context.save()
    #expect(count >= 8 && failure == nil)
    let reader = stack.context()
    #expect(try reader.fetch(Person.self).map(\.name) == ["Anna"])
    withExtendedLifetime(observation) {}
  }
}

extension ManagedObjectContext {
  fileprivate func rename(_ id: ManagedObjectID, to name: String) throws {
    (try existingObject(with: id) as? Person)?.name = name
    try save()
  }
}

/// Does something after half a minute, unless it is called off.
private final class Rescue: Sendable {
  private let state = Mutex((isOver: false, hasActed: false))

  init(_ act: @escaping @Sendable () -> Void) {
    // A thread of its own: those of the system may all wait.
    Thread { [self] in
      Thread.sleep(forTimeInterval: 30)
      let isDue = state.withLock { state in
        if state.isOver { return false }
        state.hasActed = true
        return true
      }
      if isDue { act() }
    }.start()
  }

  /// Returns whether it has acted.
  func callOff() -> Bool {
    state.withLock { state in
      state.isOver = true
      return state.hasActed
    }
  }
}
