import HeartwoodModel

/// A model with everything that a schema has a form for.
enum FeatureModel {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [media, album, book, novel, person, tag, note],
      versionIdentifiers: ["features"]
    )
  }

  /// The root of a hierarchy, abstract.
  private static let media = EntityDefinition(
    name: "Media",
    isAbstract: true,
    properties: [
      .attribute("title", .string),
      .attribute("count", .integer32, optional: true),
      .toOne("owner", "Person", inverse: "media"),
      .toMany("tags", "Tag", inverse: "media", ordered: true),
    ],
    fetchIndexes: [
      FetchIndexDescription(
        name: "byTitleAndCount",
        elements: [
          FetchIndexElementDescription(.property("title")),
          FetchIndexElementDescription(.property("count"), isAscending: false),
        ]
      )
    ]
  )

  private static let album = EntityDefinition(
    name: "Album",
    superentityName: "Media",
    properties: [.attribute("length", .double), .attribute("label", .string, optional: true)]
  )

  private static let book = EntityDefinition(
    name: "Book",
    superentityName: "Media",
    properties: [
      .attribute("label", .string, optional: true), .attribute("isbn", .string, optional: true),
      .attribute("price", .decimal, optional: true),
    ],
    uniquenessConstraints: [["isbn"]]
  )

  private static let novel = EntityDefinition(
    name: "Novel",
    superentityName: "Book",
    properties: [.attribute("isTranslated", .boolean, optional: true)]
  )

  private static let person = EntityDefinition(
    name: "Person",
    properties: [
      .attribute("name", .string), .attribute("born", .date, optional: true), .attribute("key", .uuid, optional: true),
      .attribute("page", .uri, optional: true), .attribute("draft", .string, optional: true, transient: true),
      .attribute(
        AttributeDescription(name: "portrait", type: .binary, allowsExternalBinaryDataStorage: true)
      ),
      .attribute("colour", .transformable, optional: true), .attribute("thumbnail", .binary, optional: true),
      .attribute("score", .float, optional: true),
      .toMany("media", "Media", inverse: "owner", ordered: true),
      .toMany("notes", "Note", inverse: nil),
      .toMany("friends", "Person", inverse: "friends"),
      .toMany("followers", "Person", inverse: "follows"),
      .toMany("follows", "Person", inverse: "followers"),
      .toOne("favourite", "Media", inverse: nil),
    ],
    uniquenessConstraints: [["name", "born"]]
  )

  private static let tag = EntityDefinition(
    name: "Tag",
    properties: [.attribute("name", .string), .toMany("media", "Media", inverse: "tags")]
  )

  private static let note = EntityDefinition(name: "Note", properties: [.attribute("text", .string)])
}
