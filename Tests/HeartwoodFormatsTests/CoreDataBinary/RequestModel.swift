import HeartwoodModel

/// The model of the application whose files are in the corpus, as far as it is known: found by the names that the application's older XML files
/// have, and by the version hashes in the files.
enum RequestModel {
  /// The entities whose version hashes are those of the files: their names, types and all that enters a hash are right.
  static let known: Set = [
    "LMCookieJar", "LMEnvironment", "LMEnvironmentDomain", "LMEnvironmentVariable", "LMEnvironmentVariableValue",
    "LMKeyValue",
    "LMRequestTreeItem", "LMRequestGroup", "LMRequest",
  ]

  /// - Parameter hasVariables: Whether it is the seventh version of the model, and not the sixth.
  static func make(hasVariables: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: environments + requests(hasVariables: hasVariables) + (hasVariables ? [variable] : [])
    )
  }

  private static let environments: [EntityDefinition] = [
    named("LMCookieJar", []),
    named(
      "LMEnvironmentDomain",
      [
        many("environments", "LMEnvironment", "domain"), many("variables", "LMEnvironmentVariable", "domain"),
      ]
    ),
    named(
      "LMEnvironment",
      [
        one("domain", "LMEnvironmentDomain", "environments", optional: false),
        many("variablesValues", "LMEnvironmentVariableValue", "environment"),
      ]
    ),
    named(
      "LMEnvironmentVariable",
      [
        one("domain", "LMEnvironmentDomain", "variables", optional: false),
        many("values", "LMEnvironmentVariableValue", "variable"),
      ]
    ),
    EntityDefinition(
      name: "LMEnvironmentVariableValue",
      properties: [
        text("uuid", optional: false), text("value"),
        one("environment", "LMEnvironment", "variablesValues", optional: false, minCount: 1),
        one("variable", "LMEnvironmentVariable", "values", optional: false, minCount: 1),
      ]
    ),
    named(
      "LMKeyValue",
      [
        .attribute("enabled", .boolean), .attribute("mode", .integer64, optional: true), text("value"),
        one("requestForHeaders", "LMRequest", "headers"),
        one("requestForUrlParameters", "LMRequest", "urlParameters"),
      ]
    ),
  ]

  private static func requests(hasVariables: Bool) -> [EntityDefinition] {
    let variables = hasVariables ? [many("variables", "LMRequestVariable", "request")] : []
    return [
      EntityDefinition(
        name: "LMRequestTreeItem",
        isAbstract: true,
        properties: [
          text("name", optional: false), text("notes"), .attribute("order", .integer64), text("uuid", optional: false),
          one("parent", "LMRequestTreeItem", "children"), many("children", "LMRequestTreeItem", "parent"),
        ]
      ),
      EntityDefinition(name: "LMRequestGroup", superentityName: "LMRequestTreeItem", properties: [text("baseUrl")]),
      EntityDefinition(
        name: "LMRequest",
        superentityName: "LMRequestTreeItem",
        properties: [
          text("body"), text("clientCertificate"), .attribute("followRedirects", .boolean), text("method"),
          .attribute("redirectAuthorization", .boolean), .attribute("redirectMethod", .boolean),
          .attribute("sendCookies", .boolean), .attribute("storeCookies", .boolean),
          .attribute("timeoutInterval", .float, optional: true), text("url"),
          many("headers", "LMKeyValue", "requestForHeaders"),
          many("urlParameters", "LMKeyValue", "requestForUrlParameters"),
        ] + variables
      ),
      // The names of these attributes are not known.
      EntityDefinition(
        name: "LMDocumentInfo",
        properties: (0..<7).map { text("a\($0)") } + [
          .attribute("a7", .integer64, optional: true), text("a8"), text("a9"),
        ]
      ),
    ]
  }

  private static let variable = EntityDefinition(
    name: "LMRequestVariable",
    properties: [
      text("a0"), text("a1"), .attribute("a2", .integer64, optional: true), text("a3"),
      .attribute("a4", .integer64, optional: true), text("a5"), text("a6"), one("request", "LMRequest", "variables"),
    ]
  )

  private static func named(_ name: String, _ properties: [PropertyDescription]) -> EntityDefinition {
    EntityDefinition(
      name: name,
      properties: [text("name"), .attribute("order", .integer64), text("uuid", optional: false)] + properties
    )
  }

  private static func text(_ name: String, optional: Bool = true) -> PropertyDescription {
    .attribute(name, .string, optional: optional)
  }

  private static func one(
    _ name: String,
    _ destination: String,
    _ inverse: String,
    optional: Bool = true,
    minCount: Int = 0
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destinationEntityName: destination,
        inverseRelationshipName: inverse,
        isOptional: optional,
        minCount: minCount,
        maxCount: 1
      )
    )
  }

  private static func many(_ name: String, _ destination: String, _ inverse: String) -> PropertyDescription {
    .toMany(name, destination, inverse: inverse)
  }
}
