import HeartwoodModel

/// A model in the form of Xcode 3, and the model that it stands for.
enum LegacyModelFixture {
  private static func settings(_ builder: ArchiveBuilder, _ values: [String: Int]) -> Int {
    let members = values.mapValues { builder.object("XDUMLPropertyImp", ["_default": .reference($0)]) }
    let stereotype = builder.object(
      "XDUMLStereotypeImp",
      ["XDBucketForOwnedAttributesstorage": .reference(builder.dictionary(members))]
    )
    return builder.dictionary(["XD_Stereotype": stereotype])
  }

  private static func fields(
    _ builder: ArchiveBuilder,
    _ name: String,
    _ values: [String: Int]
  ) -> [String: ArchiveBuilder.Field] {
    [
      "_name": .reference(builder.text(name)),
      "XDBucketForStereotypesstorage": .reference(settings(builder, values)),
    ]
  }

  static func archive() -> (builder: ArchiveBuilder, root: Int) {
    let builder = ArchiveBuilder()
    let (folder, snippet) = (builder.reserve(), builder.reserve())
    let (snippets, owner) = (builder.reserve(), builder.reserve())
    let (yes, no) = (builder.value(.flag(true)), builder.value(.flag(false)))
    let title = title(builder, yes: yes, no: no)
    relationship(
      builder,
      "snippets",
      [
        "XD_PRK_destination": snippet, "XD_PRK_inverseRelationship": owner, "XD_PRK_isToMany": yes,
        "XD_PRK_deleteRule": builder.value(.integer(2)), "XD_PPSK_isOptional": yes,
      ],
      at: snippets
    )
    relationship(
      builder,
      "owner",
      [
        "XD_PRK_destination": folder, "XD_PRK_inverseRelationship": snippets,
        "XD_PRK_maxCount": builder.value(.integer(1)), "XD_PPSK_isOptional": yes,
      ],
      at: owner
    )
    _ = builder.object(
      "XDPMEntity",
      fields(builder, "Folder", ["XD_PSK_entityClassName": builder.text("FolderObject")])
        .merging([
          "XDBucketForOwnedAttributesstorage": .reference(builder.dictionary(["title": title, "snippets": snippets]))
        ]) { $1 },
      at: folder
    )
    _ = builder.object(
      "XDPMEntity",
      fields(builder, "Snippet", ["XD_PSK_isAbstract": yes])
        .merging([
          "XDBucketForOwnedAttributesstorage": .reference(
            builder.dictionary(["cache": untyped(builder, yes: yes), "owner": owner])
          )
        ]) { $1 },
      at: snippet
    )
    let classes = ["Folder": folder, "Snippet": snippet, "Smart": child(builder, of: folder)]
    let package = builder.object(
      "XDModelPackage",
      ["XDBucketForClassesstorage": .reference(builder.dictionary(classes))]
    )
    return (builder, builder.object("XDPMModel", ["_xd_rootPackage": .reference(package)]))
  }

  private static func title(_ builder: ArchiveBuilder, yes: Int, no: Int) -> Int {
    builder.object(
      "XDPMAttribute",
      fields(
        builder,
        "title",
        [
          "XD_PAttK_attributeType": builder.value(.integer(700)), "XD_PAttK_maxValueString": builder.text("80"),
          "XD_PAttK_defaultValueAsString": builder.text("untitled"), "XD_PPSK_isOptional": no, "XD_PPSK_isIndexed": yes,
          "XD_PPSK_userInfo": builder.dictionary(["a": builder.text("b")]),
        ]
      )
    )
  }

  private static func untyped(_ builder: ArchiveBuilder, yes: Int) -> Int {
    let type = builder.value(.integer(0))
    let settings = ["XD_PAttK_attributeType": type, "XD_PPSK_isOptional": yes, "XD_PPSK_isTransient": yes]
    return builder.object("XDPMAttribute", fields(builder, "cache", settings))
  }

  private static func relationship(
    _ builder: ArchiveBuilder,
    _ name: String,
    _ values: [String: Int],
    at number: Int
  ) {
    _ = builder.object("XDPMRelationship", fields(builder, name, values), at: number)
  }

  /// An entity without properties of its own.
  private static func child(_ builder: ArchiveBuilder, of parent: Int) -> Int {
    let inheritance = builder.object("XDUMLGeneralizationImp", ["_general": .reference(parent)])
    return builder.object(
      "XDPMEntity",
      fields(builder, "Smart", [:])
        .merging(["XDBucketForGeneralizationsstorage": .reference(builder.array([inheritance]))]) { $1 }
    )
  }

  static func model() throws -> ManagedObjectModel {
    let folder = EntityDefinition(
      name: "Folder",
      managedObjectClassName: "FolderObject",
      properties: [
        .toMany("snippets", "Snippet", inverse: "owner", deleteRule: .cascade),
        .attribute(
          "title",
          .string,
          default: .string("untitled"),
          rules: AttributeRules(maxLength: 80),
          userInfo: ["a": "b"]
        ),
      ],
      fetchIndexes: [FetchIndexDescription(name: "byTitleIndex", properties: ["title"])]
    )
    return try ManagedObjectModel(entities: [
      folder,
      .entity("Smart", parent: "Folder"),
      .entity(
        "Snippet",
        abstract: true,
        .attribute("cache", .undefined, optional: true, transient: true),
        .toOne("owner", "Folder", inverse: "snippets")
      ),
    ])
  }
}
