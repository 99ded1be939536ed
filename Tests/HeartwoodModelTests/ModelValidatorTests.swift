import HeartwoodModel
import Testing

/// One fault, alone in a model, with where it is and a part of what is said about it.
struct FaultCase: Sendable, CustomTestStringConvertible {
  let name: String
  let path: String
  let message: String
  let entities: [EntityDefinition]
  var configurations: [String: [String]] = [:]

  var testDescription: String { name }
}

@Suite("Validation of models")
struct ModelValidatorTests {
  private static func faults(of entities: [EntityDefinition], _ configurations: [String: [String]] = [:])
    -> [ModelFault]
  {
    do throws(ModelValidationError) {
      _ = try ManagedObjectModel(entities: entities, configurations: configurations)
      return []
    } catch {
      return error.faults
    }
  }

  @Test("Each fault is found where it is, and nothing else", arguments: FaultCase.all)
  func singleFault(_ given: FaultCase) {
    let faults = Self.faults(of: given.entities, given.configurations)
    #expect(faults.map(\.path) == [given.path])
    #expect(faults.first?.message.contains(given.message) == true, "\(faults)")
  }

  @Test("All faults are reported at once, in the order of the definitions")
  func allAtOnce() {
    let faults = Self.faults(
      of: [
        .entity(
          "A",
          parent: "Nobody",
          .attribute("n", .integer16, default: .string("x")),
          .toOne("b", "C", inverse: nil)
        ),
        .entity("1", .attribute("", .string)),
      ],
      ["Cloud": ["Z"]]
    )
    #expect(faults.map(\.path) == ["A", "A.n", "A.b", "1", "1.property number 1", "configuration Cloud"])
  }

  @Test("The error text lists every fault with its path")
  func errorText() {
    let error = #expect(throws: ModelValidationError.self) {
      try ManagedObjectModel(entities: [.entity("A", parent: "B"), .entity("A")])
    }
    #expect(error?.description.split(separator: "\n").count == 3)
    #expect(error?.description.hasPrefix("The model has 2 faults:\n  A: The parent") == true)
  }

  @Test(
    "What is sound is accepted",
    arguments: [
      [EntityDefinition.entity("Ünïcode_1", .attribute("größe", .double, default: .double(.nan)))],
      [.entity("Person", .toMany("friends", "Person", inverse: "friends"))],
      [
        .entity("Base", abstract: true, .toOne("owner", "Owner", inverse: "things")),
        .entity("Thing", parent: "Base", unique: [["code"]], .attribute("code", .uuid)),
        .entity("Owner", .toMany("things", "Base", inverse: "owner", ordered: true, count: 1...3)),
      ],
      [
        .entity("Base", .toOne("owner", "Owner", inverse: "things")),
        .entity("Thing", parent: "Base"),
        .entity("Owner", .toMany("things", "Thing", inverse: "owner")),
      ],
      [
        .entity(
          "Ruled",
          .attribute("one", .integer16, rules: AttributeRules(minValue: .integer(1), maxValue: .integer(1))),
          .attribute(
            "any",
            .double,
            rules: AttributeRules(minValue: .double(-.infinity), maxValue: .double(.infinity))
          ),
          .attribute("text", .string, rules: AttributeRules(minLength: 0, maxLength: 0, pattern: "(((a)))[b-c]*"))
        )
      ],
      [],
    ]
  )
  func sound(_ entities: [EntityDefinition]) {
    #expect(Self.faults(of: entities).isEmpty)
  }

  @Test("Names are compared exactly: by case they differ")
  func namesByCase() {
    #expect(Self.faults(of: [.entity("A", .attribute("x", .string), .attribute("X", .string)), .entity("a")]).isEmpty)
  }

  @Test("A chain of parents may be 64 long, and no longer", arguments: [64, 65, 10_000])
  func depth(_ ancestors: Int) {
    let entities = (0...ancestors).map { EntityDefinition.entity("E\($0)", parent: $0 == 0 ? nil : "E\($0 - 1)") }
    for order in [entities, entities.reversed()] {
      let faults = Self.faults(of: order)
      #expect(faults.map(\.path) == (ancestors > 64 ? ["E65"] : []))
    }
  }

  @Test("A circle of parents is found once, however long", arguments: [1, 2, 3, 64, 65, 66, 10_000])
  func circle(_ length: Int) {
    let entities = (0..<length).map { EntityDefinition.entity("E\($0)", parent: "E\(($0 + 1) % length)") }
    let faults = Self.faults(of: entities + [.entity("Below", parent: "E0")])
    #expect(faults.map(\.path) == ["E0"])
    #expect(faults.first?.message.contains("inherits from itself") == true)
  }

  @Test("Inheritance cannot multiply properties without bound")
  func size() {
    let properties = (0..<1_000).map { PropertyDescription.attribute("p\($0)", .string) }
    let root = EntityDefinition(name: "Root", properties: properties)
    let children = (0..<1_000).map { EntityDefinition.entity("E\($0)", parent: "Root") }
    #expect(Self.faults(of: [root] + children).map(\.path) == ["E999"])
  }

  @Test("Ten thousand entities that refer to each other make a model")
  func large() throws {
    let count = 10_000
    let entities = (0..<count).map { number in
      EntityDefinition.entity(
        "E\(number)",
        parent: number % 10 == 0 ? nil : "E\(number - 1)",
        .attribute("a\(number)", .string),
        .toOne("next\(number)", "E\((number + 1) % count)", inverse: "back\((number + 1) % count)"),
        .toMany("back\(number)", "E\((number + count - 1) % count)", inverse: "next\((number + count - 1) % count)")
      )
    }
    let model = try ManagedObjectModel(entities: entities)
    #expect(model.entities[9].properties.count == 30)
    #expect(model.entities[0].subentityOrdinals == Array(1..<10))
  }
}
