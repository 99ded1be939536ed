import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood

/// Reads or writes one property of some objects again and again: managed objects that are no faults, instances of a plain class, or
/// of one that the compiler sees into.
struct PropertiesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "properties",
    abstract: "Read or write a property of managed or plain objects."
  )

  enum Access: String, ExpressibleByArgument { case read, write }
  enum Side: String, ExpressibleByArgument { case managed, plain, transparent }

  @Argument var access: Access
  @Argument var side: Side

  private static let objects = 1000
  private static let rounds = 20_000

  func run() throws {
    let managed = try makeManaged()
    let plain = (0..<Self.objects).map { PlainToDo(sortOrder: Int64($0)) }
    let transparent = (0..<Self.objects).map { TransparentToDo(sortOrder: Int64($0)) }
    let clock = ContinuousClock()
    var sum: Int64 = 0
    let duration = clock.measure {
      for round in 0..<Self.rounds {
        switch (access, side) {
        case (.read, .managed): sum &+= Self.read(managed.objects)
        case (.read, .plain): sum &+= Self.read(plain)
        case (.read, .transparent): sum &+= Self.read(transparent)
        case (.write, .managed): Self.write(Int64(round), to: managed.objects)
        case (.write, .plain): Self.write(Int64(round), to: plain)
        case (.write, .transparent): Self.write(Int64(round), to: transparent)
        }
      }
    }
    try withExtendedLifetime(managed.context) {
      try CaseReport(
        seconds: duration.seconds,
        rows: Self.objects * Self.rounds,
        checksum: access == .read ? UInt64(bitPattern: sum) : nil
      ).print()
    }
  }

  /// Objects that have been saved and read again.
  private func makeManaged() throws -> (context: ManagedObjectContext, objects: [ToDoObject]) {
    let path = FileManager.default.temporaryDirectory.appending(path: "properties-\(UUID()).heartwood").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let context = try ToDoObject.openContext(path)
    let objects = try (0..<Self.objects).map { number in
      let object = try context.insert(ToDoObject.self)
      object.sortOrder = Int64(number)
      return object
    }
    try context.save()
    return (context, objects)
  }

  @inline(never)
  private static func read(_ objects: [ToDoObject]) -> Int64 {
    objects.reduce(0) { $0 &+ $1.sortOrder }
  }

  @inline(never)
  private static func read(_ objects: [PlainToDo]) -> Int64 {
    objects.reduce(0) { $0 &+ $1.sortOrder }
  }

  @inline(never)
  private static func read(_ objects: [TransparentToDo]) -> Int64 {
    objects.reduce(0) { $0 &+ $1.sortOrder }
  }

  @inline(never)
  private static func write(_ number: Int64, to objects: [ToDoObject]) {
    for object in objects { object.sortOrder = number }
  }

  @inline(never)
  private static func write(_ number: Int64, to objects: [PlainToDo]) {
    for object in objects { object.sortOrder = number }
  }

  @inline(never)
  private static func write(_ number: Int64, to objects: [TransparentToDo]) {
    for object in objects { object.sortOrder = number }
  }
}

/// A class whose property the compiler sees into: it makes one loop of all objects.
private final class TransparentToDo {
  var sortOrder: Int64

  init(sortOrder: Int64) {
    self.sortOrder = sortOrder
  }
}
