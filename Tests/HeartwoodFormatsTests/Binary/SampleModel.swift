import HeartwoodModel

/// A model with every type of attribute and every kind of relationship, and with inheritance.
enum SampleModel {
  static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [item, note, task, project, tag], versionIdentifiers: ["1"])
  }

  static let item = EntityDefinition.entity(
    "Item",
    abstract: true,
    .attribute("identifier", .uuid, optional: true),
    .attribute("title", .string, optional: true),
    .toMany("tags", "Tag", inverse: "items"),
    .toOne("project", "Project", inverse: "items")
  )

  static let note = EntityDefinition.entity(
    "Note",
    parent: "Item",
    .attribute("small", .integer16, optional: true),
    .attribute("medium", .integer32, optional: true),
    .attribute("large", .integer64, optional: true),
    .attribute("price", .decimal, optional: true),
    .attribute("ratio", .double, optional: true),
    .attribute("weight", .float, optional: true),
    .attribute("body", .string, optional: true),
    .attribute("pinned", .boolean, optional: true),
    .attribute("created", .date, optional: true),
    .attribute("picture", .binary, optional: true),
    .attribute("link", .uri, optional: true),
    .attribute("color", .transformable, optional: true),
    .attribute("draft", .string, optional: true, transient: true),
    .toOne("answers", "Note", inverse: nil)
  )

  static let task = EntityDefinition.entity(
    "Task",
    parent: "Item",
    .attribute("done", .boolean, default: .boolean(false)),
    .attribute("order", .integer32, default: .integer(0))
  )

  static let project = EntityDefinition.entity(
    "Project",
    .attribute("name", .string),
    .toMany("items", "Item", inverse: "project", ordered: true)
  )

  static let tag = EntityDefinition.entity("Tag", .toMany("items", "Item", inverse: "tags"))
}
