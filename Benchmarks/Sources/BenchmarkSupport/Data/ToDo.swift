package import Foundation

/// A to-do as the generator makes it and as a peer's store gives it back.
package struct ToDo: Sendable, Hashable {
  package var isDone: Bool
  package var memo: String
  package var sortOrder: Int64
  package var creationDate: Date
  package var recordID: UUID

  package init(isDone: Bool, memo: String, sortOrder: Int64, creationDate: Date, recordID: UUID) {
    self.isDone = isDone
    self.memo = memo
    self.sortOrder = sortOrder
    self.creationDate = creationDate
    self.recordID = recordID
  }
}
