import Foundation
import Hummingbird

/// A to-do, as clients see it.
struct ToDoItem: Codable, Equatable, Sendable {
  var id: UUID
  var title: String
  var isDone: Bool
  var created: Date
  /// How often it has been saved. It is the entity tag too.
  var version: UInt64

  /// Nil for an object that has not been saved, or that another program has made without what is required.
  init?(_ toDo: ToDo) {
    guard let uuid = toDo.uuid, let title = toDo.title, let created = toDo.created, let version = toDo.savedVersion
    else {
      return nil
    }
    (id, self.title, isDone, self.created, self.version) = (uuid, title, toDo.isDone, created, version)
  }
}

/// What a client says of a to-do: a new one needs a title, and a change says what is to be another.
struct ToDoChange: Codable, Sendable {
  var title: String?
  var isDone: Bool?

  func apply(to toDo: ToDo) {
    if let title { toDo.title = title }
    if let isDone { toDo.isDone = isDone }
  }
}

/// The versions of a to-do that a change may be based on: the header field `If-Match`.
enum Precondition {
  case any
  case version(UInt64)

  /// - Throws: 428 if the client does not say, since it could overwrite what others have saved; 400 for another entity tag than ours.
  init(_ request: Request) throws {
    guard let text = request.headers[.ifMatch] else {
      throw HTTPError(.preconditionRequired, message: "Send If-Match with the ETag of the to-do, or *.")
    }
    if text == "*" {
      self = .any
    } else if let version = UInt64(text.trimmingCharacters(in: ["\""])) {
      self = .version(version)
    } else {
      throw HTTPError(.badRequest, message: "If-Match has to be the ETag of the to-do, or *.")
    }
  }

  /// - Throws: 412 if the to-do has another version.
  func check(_ toDo: ToDo) throws {
    guard case .version(let version) = self, toDo.savedVersion != version else { return }
    throw HTTPError(.preconditionFailed, message: "The to-do has been changed since. Read it again.")
  }
}
