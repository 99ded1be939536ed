import Foundation
import HeartwoodModel

extension FaultCase {
  static let all: [FaultCase] =
    names + hierarchy + defaults + rules + counts + destinations + [oneSided] + constraints + configurations + beside

  private static func one(_ name: String, at path: String, _ message: String, _ entities: EntityDefinition...)
    -> FaultCase
  {
    FaultCase(name: name, path: path, message: message, entities: entities)
  }

  private static func relationship(
    _ name: String,
    _ message: String,
    toMany: Bool = true,
    least: Int = 0,
    most: Int? = nil
  ) -> FaultCase {
    let description = RelationshipDescription(
      name: "r",
      destinationEntityName: "A",
      isToMany: toMany,
      minCount: least,
      maxCount: most
    )
    return one(name, at: "A.r", message, .entity("A", .relationship(description)))
  }

  private static let names = [
    one("empty entity name", at: "entity number 1", "A name begins with", .entity("")),
    one("entity name with a space", at: "My Entity", "A name begins with", .entity("My Entity")),
    one("entity name with a digit first", at: "1A", "A name begins with", .entity("1A")),
    one("entity name with a slash", at: "A/B", "A name begins with", .entity("A/B")),
    one("entity name that is a lone mark", at: "\u{301}", "A name begins with", .entity("\u{301}")),
    one("empty property name", at: "A.property number 1", "A name begins with", .entity("A", .attribute("", .string))),
    one("property name with a point", at: "A.b.c", "A name begins with", .entity("A", .attribute("b.c", .string))),
    one("duplicate entity", at: "A", "Another entity has the same name", .entity("A"), .entity("A")),
    one(
      "duplicate property",
      at: "A.b",
      "another property of the same name",
      .entity("A", .attribute("b", .string), .toOne("b", "A", inverse: nil))
    ),
    one(
      "inherited property",
      at: "C.x",
      "from “A”",
      .entity("C", parent: "B", .attribute("x", .string)),
      .entity("B", parent: "A"),
      .entity("A", .attribute("x", .integer16))
    ),
  ]

  private static let hierarchy = [
    one("unknown parent", at: "A", "The parent “B” does not exist", .entity("A", parent: "B")),
    one("own parent", at: "A", "(A → A)", .entity("A", parent: "A")),
    one(
      "circle of parents",
      at: "A",
      "(A → C → B → A)",
      .entity("A", parent: "C"),
      .entity("B", parent: "A"),
      .entity("C", parent: "B")
    ),
  ]

  private static let defaults = [
    one(
      "default of another type",
      at: "A.b",
      "is a string, which does not fit the type integer32",
      .entity("A", .attribute("b", .integer32, default: .string("1")))
    ),
    one(
      "default out of range",
      at: "A.b",
      "out of the range of the type integer16",
      .entity("A", .attribute("b", .integer16, default: .integer(32_768)))
    ),
    one(
      "integer default of a string",
      at: "A.b",
      "is an integer, which does not fit the type string",
      .entity("A", .attribute("b", .string, default: .integer(1)))
    ),
    one(
      "collection as default",
      at: "A.b",
      "is a collection of objects",
      .entity("A", .attribute("b", .transformable, default: .toMany([])))
    ),
  ]

  private static func ruled(
    _ name: String,
    _ message: String,
    _ type: AttributeType,
    _ rules: AttributeRules
  ) -> FaultCase {
    one(name, at: "A.b", message, .entity("A", .attribute("b", type, rules: rules)))
  }

  private static let rules =
    [
      ruled("least string", "The type string has no least", .string, .init(minValue: .string("a"))),
      ruled("greatest boolean", "The type boolean has no least", .boolean, .init(maxValue: .boolean(true))),
      ruled(
        "least value of another type",
        "The least value is a double, which does not fit the type integer16",
        .integer16,
        .init(minValue: .double(1), maxValue: .integer(0))
      ),
      ruled(
        "greatest value out of range",
        "The greatest value is out of the range of the type integer16",
        .integer16,
        .init(maxValue: .integer(32_768))
      ),
      ruled("least value that is no number", "is not a number", .double, .init(minValue: .double(.nan))),
      ruled(
        "least decimal above the greatest",
        "The least value is above",
        .decimal,
        .init(minValue: .decimal(2), maxValue: .decimal(1))
      ),
      ruled(
        "length of a number",
        "The type integer64 has no least or greatest length",
        .integer64,
        .init(minLength: 1)
      ),
      ruled("length of data", "The type binary has no least or greatest length", .binary, .init(maxLength: 1)),
      ruled("negative length", "below 0", .string, .init(maxLength: -1)),
      ruled("least length above the greatest", "The least length 3", .string, .init(minLength: 3, maxLength: 2)),
      ruled("pattern of a URI", "The type uri has no pattern", .uri, .init(pattern: ".*")),
      ruled("pattern with an open group", "expected ')'", .string, .init(pattern: "(a")),
      ruled(
        "pattern that is too long",
        "more than 1000 bytes",
        .string,
        .init(pattern: String(repeating: "a", count: 1_001))
      ),
      ruled(
        "pattern that is nested too deep",
        "more than 50 opening brackets",
        .string,
        .init(pattern: String(repeating: "(", count: 51) + String(repeating: ")", count: 51))
      ),
    ]

  private static let counts = [
    relationship("negative least count", "from 0 on", least: -1),
    relationship("negative greatest count", "from 0 on", most: -1),
    relationship("least above greatest", "The least count 3 is above the greatest, 2", least: 3, most: 2),
    relationship("to-many of one", "Make the relationship to-one", most: 1),
    relationship("to-one of many", "greatest count of 2", toMany: false, most: 2),
    relationship("to-one of any number", "greatest count of 0", toMany: false, most: 0),
    relationship("to-one of two at least", "The least count 2 is above", toMany: false, least: 2),
  ]

  private static let destinations = [
    one(
      "unknown destination",
      at: "A.b",
      "The destination “B” does not exist",
      .entity("A", .toOne("b", "B", inverse: "a"))
    ),
    one("unknown inverse", at: "A.b", "The inverse “a” does not exist", .entity("A", .toOne("b", "A", inverse: "a"))),
    one(
      "attribute as inverse",
      at: "A.b",
      "The inverse “c” is an attribute",
      .entity("A", .toOne("b", "A", inverse: "c"), .attribute("c", .string))
    ),
    one(
      "inverse without an inverse",
      at: "A.b",
      "The inverse of “a” is none",
      .entity("A", .toOne("b", "B", inverse: "a")),
      .entity("B", .toOne("a", "A", inverse: nil))
    ),
    one(
      "inverse of another",
      at: "A.b",
      "The inverse of “a” is “c”",
      .entity("A", .toOne("b", "B", inverse: "a"), .toOne("c", "B", inverse: "a")),
      .entity("B", .toOne("a", "A", inverse: "c"))
    ),
    one(
      "inverse that leads elsewhere",
      at: "A.b",
      "The inverse “a” refers to “C”",
      .entity("A", .toOne("b", "B", inverse: "a")),
      .entity("B", .toOne("a", "C", inverse: "b")),
      .entity("C", .toOne("b", "B", inverse: "a"))
    ),
  ]

  private static let oneSided = one(
    "one-sided inverse that leads back",
    at: "A.b",
    "marked as one-sided",
    .entity(
      "A",
      .relationship(
        RelationshipDescription(
          name: "b",
          destinationEntityName: "A",
          inverseRelationshipName: "b",
          hasOneSidedInverse: true
        )
      )
    )
  )

  private static let constraints = [
    one("empty constraint", at: "A", "names no attribute", .entity("A", unique: [[]])),
    one(
      "constraint on an unknown property",
      at: "A",
      "“b”, which the entity does not have",
      .entity("A", unique: [["b"]])
    ),
    one(
      "constraint on a relationship",
      at: "A",
      "“b”, which is a relationship",
      .entity("A", unique: [["b"]], .toOne("b", "A", inverse: nil))
    ),
    one(
      "constraint on a transient attribute",
      at: "A",
      "“b”, which is transient",
      .entity("A", unique: [["b"]], .attribute("b", .string, transient: true))
    ),
    one(
      "constraint that names an attribute twice",
      at: "A",
      "“b” twice",
      .entity("A", unique: [["b", "b"]], .attribute("b", .string))
    ),
  ]

  private static let configurations = [
    FaultCase(
      name: "configuration with an unknown entity",
      path: "configuration Cloud",
      message: "The entity “B” does not exist",
      entities: [.entity("A")],
      configurations: ["Cloud": ["A", "B"]]
    ),
    FaultCase(
      name: "configuration that lists an entity twice",
      path: "configuration Cloud",
      message: "“A” is listed twice",
      entities: [.entity("A")],
      configurations: ["Cloud": ["A", "A"]]
    ),
    FaultCase(
      name: "configuration without a name",
      path: "configuration ",
      message: "an empty name",
      entities: [.entity("A")],
      configurations: ["": ["A"]]
    ),
  ]

  /// An entity that has something beside its properties.
  private static func naming(_ name: String, parent: String? = nil, fetched: String?, composite: String?)
    -> EntityDefinition
  {
    let part = CompositeAttributeDescription.Element(name: "part", attributeName: "\(name)Part")
    return EntityDefinition(
      name: name,
      superentityName: parent,
      properties: [.attribute("\(name)Part", .string)],
      fetchedProperties: [fetched].compactMap(\.self).map {
        FetchedPropertyDescription(name: $0, fetchRequest: FetchRequestTemplate(name: $0, entityName: name))
      },
      compositeAttributes: [composite].compactMap(\.self).map {
        CompositeAttributeDescription(name: $0, compositeName: "C", elements: [part])
      }
    )
  }

  private static let beside = [
    one(
      "composite attribute and fetched property of one name",
      at: "A",
      "another property called “x”",
      naming("A", fetched: "x", composite: "x")
    ),
    one(
      "attribute that is called as an inherited composite attribute",
      at: "B.x",
      "from “A”",
      naming("A", fetched: nil, composite: "x"),
      .entity("B", parent: "A", .attribute("x", .string))
    ),
    one(
      "relationship that is called as an inherited fetched property",
      at: "C.x",
      "from “A”",
      naming("A", fetched: "x", composite: nil),
      .entity("B", parent: "A"),
      .entity("C", parent: "B", .toOne("x", "A", inverse: nil))
    ),
    one(
      "composite attribute that is called as an inherited property",
      at: "B",
      "inherits another property called “x” from “A”",
      .entity("A", .attribute("x", .string)),
      naming("B", parent: "A", fetched: nil, composite: "x")
    ),
    one(
      "composite attribute that is called as an inherited one",
      at: "B",
      "inherits another property called “x” from “A”",
      naming("A", fetched: nil, composite: "x"),
      naming("B", parent: "A", fetched: nil, composite: "x")
    ),
    one(
      "fetched property that is called as an inherited one",
      at: "B",
      "inherits another property called “x” from “A”",
      naming("A", fetched: "x", composite: nil),
      naming("B", parent: "A", fetched: "x", composite: nil)
    ),
  ]
}
