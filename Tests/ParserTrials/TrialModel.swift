import HeartwoodModel

/// The models of files that do not bring one: every type of attribute and every kind of relationship.
enum TrialModel {
  static let model = Result { try ManagedObjectModel(entities: [thing, part], versionIdentifiers: ["1"]) }

  private static let thing = EntityDefinition(
    name: "Thing",
    properties: [
      .attribute("small", .integer16, optional: true),
      .attribute("medium", .integer32, optional: true),
      .attribute("large", .integer64, optional: true),
      .attribute("price", .decimal, optional: true),
      .attribute("ratio", .double, optional: true),
      .attribute("weight", .float, optional: true),
      .attribute("name", .string, optional: true),
      .attribute("pinned", .boolean, optional: true),
      .attribute("created", .date, optional: true),
      .attribute("picture", .binary, optional: true),
      .attribute("token", .uuid, optional: true),
      .attribute("link", .uri, optional: true),
      .toOne("next", "Thing", inverse: nil),
      .toMany("parts", "Part", inverse: "thing", ordered: true),
    ]
  )

  private static let part = EntityDefinition(
    name: "Part",
    properties: [.attribute("name", .string, optional: true), .toOne("thing", "Thing", inverse: "parts")]
  )

  /// Those of the samples of CSV, whose files hold the records of one entity and tell nothing of it.
  static let lists = Result { try [toDo, everything].map { try ManagedObjectModel(entities: [$0]) } }

  private static let toDo = EntityDefinition(
    name: "ToDo",
    properties: [
      .attribute("done", .boolean, default: .boolean(false)),
      .attribute("memo", .string, optional: true),
      .attribute("sortOrder", .integer32),
      .attribute("creationDate", .date, optional: true),
    ]
  )

  private static let everything = EntityDefinition(
    name: "Everything",
    properties: [
      .attribute("text", .string, optional: true),
      .attribute("flag", .boolean, optional: true),
      .attribute("small", .integer16, optional: true),
      .attribute("medium", .integer32, optional: true),
      .attribute("large", .integer64, optional: true),
      .attribute("double", .double, optional: true),
      .attribute("float", .float, optional: true),
      .attribute("decimal", .decimal, optional: true),
      .attribute("date", .date, optional: true),
      .attribute("data", .binary, optional: true),
      .attribute("uuid", .uuid, optional: true),
      .attribute("uri", .uri, optional: true),
      .attribute("made", .transformable, optional: true),
      .toOne("parent", "Everything", inverse: nil),
      .toMany("others", "Everything", inverse: nil, ordered: true),
    ]
  )
}
