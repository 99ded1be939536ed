import BenchmarkSupport
import Foundation
import Heartwood

/// The to-do as a user of Heartwood writes it.
final class ToDoObject: ManagedObject {
  override class var entityName: String { "ToDo" }

  static let doneKey = AttributeKey<Bool>("done")
  static let memoKey = AttributeKey<String>("memo")
  static let sortOrderKey = AttributeKey<Int64>("sortOrder")
  private static let creationDateKey = AttributeKey<Date>("creationDate")

  var isDone: Bool {
    get { self[Self.doneKey] }
    set { self[Self.doneKey] = newValue }
  }

  var memo: String {
    get { self[Self.memoKey] }
    set { self[Self.memoKey] = newValue }
  }

  var sortOrder: Int64 {
    get { self[Self.sortOrderKey] }
    set { self[Self.sortOrderKey] = newValue }
  }

  var creationDate: Date {
    get { self[Self.creationDateKey] }
    set { self[Self.creationDateKey] = newValue }
  }

  /// The identifier, which stores keep as the record's name.
  var recordID: UUID? {
    if case .uuid(let identifier) = objectID.reference { identifier } else { nil }
  }
}

extension ToDoObject {
  /// The model of `Examples/ToDo`, written in code.
  static func makeModel(with addition: ModelAddition? = nil) throws -> ManagedObjectModel {
    var entity = EntityDefinition.entity(
      "ToDo",
      .attribute("done", .boolean, default: .boolean(false)),
      .attribute("memo", .string, optional: true),
      .attribute("sortOrder", .integer32, default: .integer(0)),
      .attribute("creationDate", .date, optional: true)
    )
    try addition?.add(to: &entity)
    return try ManagedObjectModel(entities: [entity])
  }

  /// A context over the binary store at `path`.
  static func openContext(
    _ path: String,
    tracksHistory: Bool = false,
    with addition: ModelAddition? = nil
  ) throws -> ManagedObjectContext {
    let registry = try StoreRegistry([BinaryStore.self])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try makeModel(with: addition),
      registry: registry,
      objectClasses: [ToDoObject.self]
    )
    var options = StoreOptions()
    if tracksHistory { options[.tracksPersistentHistory] = true }
    try coordinator.addPersistentStore(type: .binary, at: URL(filePath: path), options: options)
    return ManagedObjectContext(coordinator)
  }
}

extension ToDoChecksum {
  /// Reads every value of an object.
  mutating func add(_ object: ToDoObject) throws {
    guard let recordID = object.recordID else { throw CaseError("A record is not named by a UUID.") }
    add(
      isDone: object.isDone,
      memo: object.memo,
      sortOrder: object.sortOrder,
      creationDate: object.creationDate,
      recordID: recordID
    )
  }
}

/// Why a case cannot be measured.
struct CaseError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
