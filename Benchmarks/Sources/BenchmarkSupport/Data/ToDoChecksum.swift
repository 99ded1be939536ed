package import Foundation

/// A number that depends on every value of every to-do: it proves that the values were read, and keeps the optimizer from
/// leaving the reading out.
package struct ToDoChecksum: Sendable {
  package private(set) var value: UInt64 = 0
  package private(set) var rows = 0

  package init() {}

  @inline(__always)
  package mutating func add(isDone: Bool, memo: String, sortOrder: Int64, creationDate: Date, recordID: UUID) {
    var sum: UInt64 = isDone ? 1 : 0
    sum &+= UInt64(memo.utf8.count) &* 3
    sum &+= UInt64(truncatingIfNeeded: sortOrder) &* 5
    sum &+= creationDate.timeIntervalSinceReferenceDate.bitPattern
    sum &+= UInt64(recordID.uuid.0) &* 7 &+ UInt64(recordID.uuid.15) &* 11
    value &+= sum
    rows += 1
  }

  @inline(__always)
  package mutating func add(_ toDo: ToDo) {
    add(
      isDone: toDo.isDone,
      memo: toDo.memo,
      sortOrder: toDo.sortOrder,
      creationDate: toDo.creationDate,
      recordID: toDo.recordID
    )
  }
}
