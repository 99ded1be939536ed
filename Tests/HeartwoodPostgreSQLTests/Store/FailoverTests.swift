import Foundation
import Heartwood
import HeartwoodStore
import PostgreSQLServers
import Synchronization
import Testing

@testable import HeartwoodPostgreSQL

/// Two servers, one of which takes over from the other.
@Suite(.needsServer) struct FailoverTests {
  /// Saves pairs of items until it is told to stop: what was saved is read back whole.
  private final class Saver: Sendable {
    let name: String
    /// The number of saves that have returned.
    let saved = Mutex(0)

    init(_ name: String) { self.name = name }

    func save(_ context: ManagedObjectContext, until isEnough: () -> Bool) throws {
      while !isEnough() {
        let number = saved.withLock { $0 } + 1
        for half in ["left", "right"] {
          let item = try context.insert(entityName: "Item")
          try item.setValue("\(name) \(number) \(half)", forKey: "title")
        }
        try context.save()
        saved.withLock { $0 = number }
      }
    }
  }

  private final class Counter: Sendable {
    let value = Mutex(0)
  }

  private func context(_ url: String, _ options: StoreOptions = StoreOptions()) throws -> ManagedObjectContext {
    let registry = StoreRegistry()
    try registry.register(PostgreSQLFormat())
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try StoreBench.lists(), registry: registry)
    let place: URL = try #require(URL(string: url))
    try coordinator.addPersistentStore(type: .postgreSQL, at: place, options: options)
    return ManagedObjectContext(coordinator)
  }

  @Test func savesGoOnWhenTheStandbyTakesOver() throws {
    let servers = try ReplicatedServers()
    let url = servers.url(schema: "todos")
    let first = try context(url)
    let savers = (0..<3).map { Saver("saver \($0)") }
    let (failures, total, failovers) = (FailureLog(), Counter(), Counter())
    let threads = DispatchGroup()
    for saver in savers {
      threads.enter()
      Thread.detachNewThread {
        failures.catching {
          let context = try context(url)
          var savedBefore: Int?
          try saver.save(context) {
            let saved = saver.saved.withLock { $0 }
            total.value.withLock { $0 += 1 }
            if savedBefore == nil, failovers.value.withLock({ $0 }) > 0 { savedBefore = saved }
            return savedBefore.map { saved >= $0 + 20 } ?? false
          }
        }
        threads.leave()
      }
    }
    while total.value.withLock({ $0 }) < 60, failures.all.isEmpty { usleep(5_000) }
    try servers.killPrimary()
    usleep(300_000)
    try servers.promoteStandby()
    failovers.value.withLock { $0 = 1 }
    #expect(threads.wait(timeout: .now() + 60) == .success)
    #expect(failures.all.isEmpty, "\(failures.all)")
    let titles = try first.fetch(entityName: "Item").compactMap { try $0.value(forKey: "title") as? String }
    // Each save that has returned is there, once and whole, and there is nothing else.
    let expected = savers.flatMap { saver in
      (0..<saver.saved.withLock { $0 }).flatMap { number in
        ["left", "right"].map { "\(saver.name) \(number + 1) \($0)" }
      }
    }
    #expect(titles.sorted() == expected.sorted())
  }

  @Test func aStoreForReadingIsServedByTheStandby() throws {
    let servers = try ReplicatedServers()
    let url = servers.url(schema: "todos")
    let context = try context(url)
    try context.insert(entityName: "Item").setValue("Tea", forKey: "title")
    try context.save()
    var options = StoreOptions()
    options[.isReadOnly] = true
    let reader = try self.context(url, options)
    // The standby has the save, and may not have made it visible yet.
    for _ in 0..<100 where try reader.count(entityName: "Item") == 0 { usleep(20_000) }
    #expect(try reader.fetch(entityName: "Item").count == 1)
    let location = try PostgreSQLLocation(text: url)
    for (options, isStandby) in [(options, "t"), (StoreOptions(), "f")] {
      let connection = try PostgreSQLConnection(location, options: options)
      #expect(try connection.execute("SELECT pg_is_in_recovery()").first { try $0.text(0) } == isStandby)
    }
  }

  /// The primary has committed, and the connection is lost while it waits for the standby: the save is found.
  @Test func aCommitThatNobodyReportedIsFound() throws {
    let servers = try ReplicatedServers()
    let url = servers.url(schema: "todos")
    let context = try context(url)
    let item = try context.insert(entityName: "Item")
    try item.setValue("Tea", forKey: "title")
    try context.save()
    // No standby has this name, so commits wait for ever.
    try servers.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try servers.execute("SELECT pg_reload_conf()")
    let failures = FailureLog()
    let threads = DispatchGroup()
    threads.enter()
    Thread.detachNewThread {
      failures.catching {
        usleep(500_000)
        try servers.releaseWaiting()
      }
      threads.leave()
    }
    try item.setValue("Coffee", forKey: "title")
    try context.save()
    threads.wait()
    #expect(failures.all.isEmpty, "\(failures.all)")
    #expect(try item.value(forKey: "title") as? String == "Coffee")
    let other = try self.context(url)
    let found = try #require(try other.fetch(entityName: "Item").first)
    #expect(try found.value(forKey: "title") as? String == "Coffee")
    #expect(found.savedVersion == 2)
  }
}

extension ReplicatedServers {
  /// Ends the connections that wait for a standby, and makes commits wait for none.
  fileprivate func releaseWaiting() throws {
    try execute("ALTER SYSTEM RESET synchronous_standby_names")
    try execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    try execute("SELECT pg_reload_conf()")
  }
}
