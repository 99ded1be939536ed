import Foundation
import Heartwood

/// A to-do, as it is kept.
final class ToDo: ManagedObject {
  static let uuidKey = AttributeKey<UUID?>("uuid")
  static let titleKey = AttributeKey<String?>("title")
  static let isDoneKey = AttributeKey<Bool>("isDone")
  static let createdKey = AttributeKey<Date?>("created")

  var uuid: UUID? {
    get { self[Self.uuidKey] }
    set { self[Self.uuidKey] = newValue }
  }
  var title: String? {
    get { self[Self.titleKey] }
    set { self[Self.titleKey] = newValue }
  }
  var isDone: Bool {
    get { self[Self.isDoneKey] }
    set { self[Self.isDoneKey] = newValue }
  }
  var created: Date? {
    get { self[Self.createdKey] }
    set { self[Self.createdKey] = newValue }
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    uuid = UUID()
    created = Date()
  }

  /// A UUID of our own names a to-do to clients: it stays the same if the store is converted to one of another type.
  static func model() throws -> ManagedObjectModel {
    let title = AttributeDescription(
      name: "title",
      type: .string,
      isOptional: false,
      rules: AttributeRules(minLength: 1, maxLength: 500)
    )
    return try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "ToDo",
        properties: [
          .attribute("uuid", .uuid), .attribute(title), .attribute("isDone", .boolean, default: .boolean(false)),
          .attribute("created", .date),
        ],
        uniquenessConstraints: [["uuid"]],
        // The order of pages.
        fetchIndexes: [FetchIndexDescription(name: "byCreation", properties: ["created", "uuid"])]
      )
    ])
  }
}
