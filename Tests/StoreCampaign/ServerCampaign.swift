import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodPostgreSQL
import HeartwoodStore
import PostgreSQLServers

/// Clients that save to a PostgreSQL store while its servers and they themselves are killed.
///
/// Each save inserts two records and raises a number that all clients share. In the end, each save that was reported
/// must be there, each that is there must be whole, and the number must be that of all saves.
final class ServerCampaign {
  private let folder: URL
  private let clientCount: Int
  private var random: Random
  private let servers: ReplicatedServers
  private var clients: [Process] = []
  private var url: String { servers.url(schema: "campaign") }

  init(folder: URL, clientCount: Int, random: Random) throws {
    (self.folder, self.clientCount, self.random) = (folder, clientCount, random)
    try? FileManager.default.removeItem(at: folder)  // try?: it need not be there.
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    servers = try ReplicatedServers()
    let store = try ServerStore(url: servers.url(schema: "campaign"))
    try store.makeTotal()
    store.close()
  }

  /// - Parameters:
  ///   - failovers: how often the primary is killed and the standby takes over.
  ///   - restarts: how often the primary is killed and started again.
  ///   - kills: how often a client is killed.
  func run(failovers: Int, restarts: Int, kills: Int) throws {
    for number in 0..<clientCount { clients.append(try startClient(number)) }
    for _ in 0..<restarts {
      pause(milliseconds: 100...600)
      try servers.killPrimary()
      try servers.restartPrimary()
      try expectProgress()
    }
    report("\(restarts) times the server was killed and started again")
    var gaps: [Duration] = []
    for _ in 0..<failovers {
      pause(milliseconds: 100...600)
      let start = ContinuousClock.now
      try servers.killPrimary()
      pause(milliseconds: 0...500)
      try servers.promoteStandby()
      try expectProgress()
      gaps.append(ContinuousClock.now - start)
      try servers.addStandby()
      try expectProgress()
    }
    let longest = gaps.max() ?? .zero
    report("\(failovers) times the standby took over; all clients saved again after \(longest) at most")
    for kill in 0..<kills { try killClient(kill % clientCount) }
    report("\(kills) times a client was killed")
    try expectProgress()
    for client in clients { end(client) }
    try check()
  }

  private func report(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  private func pause(milliseconds range: ClosedRange<Int>) {
    usleep(UInt32((range.lowerBound + random.number(below: range.count)) * 1_000))
  }

  // MARK: Clients

  private func file(_ number: Int) -> URL { folder.appending(path: "client-\(number)") }

  private func startClient(_ number: Int) throws -> Process {
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = [ServerClient.command, url, file(number).path, "\(number)"]
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func killClient(_ number: Int) throws {
    try waitForSave(of: number, after: reported(number))
    usleep(UInt32(random.number(below: 20_000)))
    end(clients[number])
    clients[number] = try startClient(number)
  }

  private func end(_ client: Process) {
    kill(client.processIdentifier, SIGKILL)
    client.waitUntilExit()
  }

  /// The number of the last save that a client has reported; 0 for none.
  private func reported(_ number: Int) -> Int {
    // try?: before its first save, there is no file.
    let text = (try? String(contentsOf: file(number), encoding: .utf8)) ?? ""
    return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
  }

  /// Waits until each client has saved once more.
  private func expectProgress() throws {
    let before = (0..<clientCount).map(reported)
    for (number, last) in before.enumerated() { try waitForSave(of: number, after: last) }
  }

  private func waitForSave(of number: Int, after last: Int) throws {
    let deadline = ContinuousClock.now + .seconds(90)
    while reported(number) <= last {
      guard clients[number].isRunning else { throw StoreCampaign.Flaw("The client \(number) has ended by itself.") }
      guard ContinuousClock.now < deadline else {
        throw StoreCampaign.Flaw("The client \(number) has not saved for 90 seconds.")
      }
      usleep(2_000)
    }
  }

  // MARK: Checking

  private func check() throws {
    let store = try ServerStore(url: url)
    defer { store.close() }
    var (saves, missing, halves) = (0, 0, 0)
    for number in 0..<clientCount {
      let found = try store.halves(of: number)
      let last = found.keys.max() ?? 0
      missing += max(0, reported(number) - last) + (1...max(1, last)).filter { found[$0] == nil && last > 0 }.count
      halves += found.values.filter { $0 != 2 }.count
      saves += found.count
    }
    let lost = saves - (try store.total())
    let text = "\(saves) saves of \(clientCount) clients: \(missing) missing, \(halves) not whole, \(lost) updates lost"
    guard missing == 0, halves == 0, lost == 0 else { throw StoreCampaign.Flaw(text) }
    print(text)
  }
}

/// A process that saves until it is killed, and writes the number of each save to a file when the save has returned.
struct ServerClient {
  static let command = "server-client"
  private let store: ServerStore
  private let file: FileHandle
  private let number: Int

  /// - Parameter words: the command, the URL of the store, the path of the file, and the number of the client.
  init(_ words: [String]) throws {
    guard words.count == 4, let number = Int(words[3]) else {
      throw StoreCampaign.Flaw("Usage: StoreCampaign \(Self.command) URL FILE NUMBER")
    }
    self.number = number
    store = try ServerStore(url: words[1])
    if !FileManager.default.fileExists(atPath: words[2]) { try Data().write(to: URL(filePath: words[2])) }
    file = try FileHandle(forWritingTo: URL(filePath: words[2]))
  }

  func saveForEver() throws {
    var last = try store.halves(of: number).keys.max() ?? 0
    while true {
      last += 1
      try store.save(last, of: number)
      let text = String(last)
      try file.seek(toOffset: 0)
      try file.write(contentsOf: Data((String(repeating: "0", count: 20 - text.count) + text).utf8))
    }
  }
}

/// The store of the campaign, opened once.
struct ServerStore {
  private let context: ManagedObjectContext

  init(url: String) throws {
    guard let url = URL(string: url) else { throw StoreCampaign.Flaw("\(url) is no URL.") }
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(name: "Total", properties: [.attribute("number", .integer64)]),
      EntityDefinition(
        name: "Half",
        properties: [.attribute("client", .integer64), .attribute("save", .integer64), .attribute("side", .string)]
      ),
    ])
    let registry = StoreRegistry()
    try registry.register(PostgreSQLFormat())
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    var options = StoreOptions()
    options[.postgresReconnectTimeout] = .seconds(60)
    // Another client may begin while the servers change.
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      do {
        try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
        break
      } catch let error as HeartwoodStore.PersistenceError
        where error.code == .fileReadFailed && ContinuousClock.now < deadline
      {
        usleep(50_000)
      }
    }
    context = ManagedObjectContext(coordinator)
  }

  func close() { context.persistentStoreCoordinator.close() }

  private func totalObject() throws -> ManagedObject {
    guard let total = try context.fetch(entityName: "Total").first else {
      throw StoreCampaign.Flaw("The total is gone.")
    }
    return total
  }

  func makeTotal() throws {
    try context.insert(entityName: "Total").setValue(0, forKey: "number")
    try context.save()
  }

  func total() throws -> Int { try totalObject().value(forKey: "number") as? Int ?? 0 }

  /// Saves both halves, and raises the total; again and again if another client has raised it meanwhile.
  func save(_ save: Int, of client: Int) throws {
    while true {
      let total = try totalObject()
      try total.setValue((total.value(forKey: "number") as? Int ?? 0) + 1, forKey: "number")
      for side in ["left", "right"] {
        let half = try context.insert(entityName: "Half")
        try half.setValue(client, forKey: "client")
        try half.setValue(save, forKey: "save")
        try half.setValue(side, forKey: "side")
      }
      do {
        return try context.save()
      } catch PersistenceError.Code.saveConflict {
        context.rollback()
        context.refreshAllObjects()
      }
    }
  }

  /// The number of halves of each save of a client.
  func halves(of client: Int) throws -> [Int: Int] {
    let request = FetchRequest<ManagedObject>(
      entityName: "Half",
      where: try FetchPredicate(format: "client == \(client)")
    )
    return try context.fetch(request).reduce(into: [:]) { halves, half in
      halves[try half.value(forKey: "save") as? Int ?? 0, default: 0] += 1
    }
  }
}
