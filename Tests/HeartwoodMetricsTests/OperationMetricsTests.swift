#if Metrics
  import CoreMetrics
  import Dispatch
  import Foundation
  import Heartwood
  import HeartwoodMetrics
  import HeartwoodSQLite
  import InMemoryTracing
  import MetricsTestKit
  import Synchronization
  import Testing
  import Tracing

  @Suite struct OperationMetricsTests {
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()
    private let coordinator: PersistentStoreCoordinator

    init() throws {
      let model = try ManagedObjectModel(entities: [
        EntityDefinition(
          name: "Item",
          properties: [.attribute("name", .string, optional: true), .attribute("number", .integer64)],
          uniquenessConstraints: [["number"]]
        )
      ])
      coordinator = try PersistentStoreCoordinator(
        managedObjectModel: model,
        operationObserver: OperationMetrics(factory: metrics, tracer: tracer)
      )
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
    }

    private func insert(_ number: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
      let item = try context.insert(entityName: "Item")
      try item.setValue(number, forKey: "number")
      return item
    }

    private func dimensions(_ operation: String, entity: String = "none", store: String = "any") -> [(String, String)] {
      [("operation", operation), ("store", store), ("entity", entity)]
    }

    @Test func operationsAreTimedAndCounted() throws {
      let context = ManagedObjectContext(coordinator)
      for number in 0..<3 { _ = try insert(number, context) }
      try context.save()
      _ = try context.fetch(
        FetchRequest<ManagedObject>(entityName: "Item", where: FetchPredicate(format: "number > 0"))
      )
      _ = try context.count(for: FetchRequest<ManagedObject>(entityName: "Item"))
      let label = "heartwood.operation.duration"
      for operation in [
        dimensions("open"), dimensions("save", store: "InMemory"), dimensions("fetch", entity: "Item"),
        dimensions("count", entity: "Item"),
      ] {
        let timer = try metrics.expectTimer(label, operation)
        #expect(timer.values.count == 1)
        #expect(timer.values.allSatisfy { $0 >= 0 })
      }
      let records = "heartwood.operation.records"
      #expect(try metrics.expectRecorder(records, dimensions("save", store: "InMemory")).values == [3])
      #expect(try metrics.expectRecorder(records, dimensions("fetch", entity: "Item")).values == [2])
      #expect(metrics.counters(label: "heartwood.operation.errors").isEmpty)
    }

    @Test func spansHaveTheSpanOfTheTaskAsParent() throws {
      try tracer.withSpan("request") { _ in
        let context = ManagedObjectContext(coordinator)
        _ = try insert(1, context)
        try context.save()
      }
      let spans = tracer.finishedSpans
      let request = try #require(spans.first { $0.operationName == "request" })
      let save = try #require(spans.first { $0.operationName == "heartwood save" })
      #expect(save.parentSpanID == request.spanID)
      #expect(save.attributes["heartwood.store"]?.toSpanAttribute() == .string("InMemory"))
      #expect(save.attributes["heartwood.records"]?.toSpanAttribute() == .int(1))
      #expect(save.status == nil)
    }

    @Test func conflictsAreCountedIfTheyAreResolvedToo() throws {
      let (one, other) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
      let item = try insert(1, one)
      try one.save()
      let same = try other.existingObject(with: item.objectID)
      other.mergePolicy = .mergeByPropertyObjectTrump
      try same.setValue("other", forKey: "name")
      try item.setValue("one", forKey: "name")
      try one.save()
      try other.save()
      let conflict = [("store", "InMemory"), ("code", "saveConflict")]
      #expect(try metrics.expectCounter("heartwood.conflicts", conflict).totalValue == 1)
      let failed = tracer.finishedSpans.filter { $0.status?.code == .error }
      #expect(failed.map(\.operationName) == ["heartwood save"])
      #expect(failed.first?.attributes["heartwood.code"]?.toSpanAttribute() == .string("saveConflict"))
    }

    @Test func refusedFetchesAreErrors() throws {
      let context = ManagedObjectContext(coordinator)
      let request = FetchRequest<ManagedObject>(entityName: "Item", where: try FetchPredicate(format: "nothing == 1"))
      #expect(throws: FetchPredicateError.self) { try context.fetch(request) }
      let code = dimensions("fetch", entity: "Item") + [("code", "FetchPredicateError")]
      #expect(try metrics.expectCounter("heartwood.operation.errors", code).totalValue == 1)
    }

    @Test func asynchronousSavesAreMeasuredWhereTheyAreWritten() async throws {
      let context = ManagedObjectContext(coordinator)
      _ = try insert(1, context)
      try await context.saveAsynchronously()
      #expect(
        try metrics.expectTimer("heartwood.operation.duration", dimensions("save", store: "InMemory")).values.count == 1
      )
    }
  }

  /// What an observer is told.
  @Suite struct OperationObserverTests {
    private final class Log: OperationObserver {
      let entries = Mutex<[(StoreOperation, StoreOperation.Result)]>([])

      func operationWillBegin(_ operation: StoreOperation) -> @Sendable (StoreOperation.Result) -> Void {
        { [self] result in entries.withLock { $0.append((operation, result)) } }
      }
    }

    private static func coordinator(_ log: Log, _ type: StoreType, _ folder: URL) throws -> PersistentStoreCoordinator {
      let model = try ManagedObjectModel(entities: [.entity("Item", .attribute("number", .integer64))])
      let coordinator = try PersistentStoreCoordinator(
        managedObjectModel: model,
        registry: StoreRegistry([SQLiteStore.self, BinaryStore.self]),
        operationObserver: log
      )
      try coordinator.addPersistentStore(type: type, at: folder.appending(path: "store"))
      return coordinator
    }

    private static func save(_ count: Int, _ coordinator: PersistentStoreCoordinator) {
      #expect(throws: Never.self) {
        let context = ManagedObjectContext(coordinator)
        for number in 0..<count { try context.insert(entityName: "Item").setValue(number, forKey: "number") }
        try context.save()
      }
    }

    /// A save that comes while another one writes has waited. Threads save at the same time until that has happened.
    @Test(arguments: [StoreType.sqlite, .binary]) func waitingIsTold(_ type: StoreType) throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
      let log = Log()
      let coordinator = try Self.coordinator(log, type, folder)
      var saves: [(StoreOperation, StoreOperation.Result)] = []
      for _ in 0..<200 where !saves.contains(where: { $0.1.waited > .zero }) {
        let group = DispatchGroup()
        for _ in 0..<4 {
          group.enter()
          Thread.detachNewThread {
            Self.save(200, coordinator)
            group.leave()
          }
        }
        group.wait()
        saves = log.entries.withLock { $0 }.filter { $0.0.kind == .save }
      }
      #expect(saves.contains { $0.1.waited > .zero })
      #expect(saves.allSatisfy { $0.1.waited <= $0.1.duration && $0.1.recordCount == 200 && $0.1.error == nil })
      coordinator.close()
      #expect(log.entries.withLock { $0.last?.0.kind } == .close)
    }
  }
#endif
