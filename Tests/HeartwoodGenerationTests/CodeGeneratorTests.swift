import Foundation
import HeartwoodGeneration
import HeartwoodModel
import Testing

@Suite("Generated classes")
struct CodeGeneratorTests {
  private static func model() throws -> ManagedObjectModel {
    let adults = FetchRequestTemplate(
      name: "adults",
      entityName: "Person",
      predicate: try FetchPredicate(format: "age >= $LEAST_AGE"),
      fetchLimit: 5
    )
    return try ManagedObjectModel(
      entities: [
        .entity(
          "Person",
          userInfo: ["a.b": "\"c\""],
          .attribute("age", .integer16, optional: true),
          .attribute("born", .date),
          .attribute("default", .string, optional: true),
          .attribute("description", .string, optional: true),
          .attribute("mood", .integer32, userInfo: ["swiftType": "Mood"]),
          .toMany("pets", "Pet", inverse: "owner"),
          .toMany("friends", "Person", inverse: nil, ordered: true)
        ),
        .entity("Pet", .toOne("owner", "Person", inverse: "pets")),
        .entity("Cat", parent: "Pet", .attribute("lives", .integer16, default: .integer(9))),
      ],
      fetchRequestTemplates: [adults]
    )
  }

  private func files(_ change: (inout GenerationOptions) -> Void = { _ in }) throws -> [String: String] {
    var options = GenerationOptions()
    change(&options)
    let files = try CodeGenerator(Self.model(), named: "Zoo", options: options).files()
    return Dictionary(files.map { ($0.name, $0.contents) }, uniquingKeysWith: { first, _ in first })
  }

  @Test("Each entity has a machine file and a human one")
  func names() throws {
    #expect(
      try files().keys.sorted()
        == ["Cat.swift", "Person.swift", "Pet.swift", "ZooModel.swift", "_Cat.swift", "_Person.swift", "_Pet.swift"]
    )
    let machine = try files { $0.hasHumanFiles = false }
    #expect(machine.keys.sorted() == ["Cat.swift", "Person.swift", "Pet.swift", "ZooModel.swift"])
    #expect(machine["Cat.swift"]?.contains("nonisolated final class Cat: Pet {") == true)
    #expect(machine["Pet.swift"]?.contains("\nnonisolated class Pet: ManagedObject {") == true)
  }

  @Test(
    "Properties have the types of the model",
    arguments: [
      "var age: Int16? {", "var born: Date {", "var `default`: String? {", "var description_: String? {",
      "var mood: Mood {",
      "var pets: RelatedSet<Pet> {", "var friends: RelatedList<Person> {", "import Foundation\nimport Heartwood\n",
      "func addToPets(_ objects: Pet...) {", "func removeFromFriends(_ objects: Person...) {",
      "static func fetchAdults(\n    leastAge: any FetchArgument,\n    in context: ManagedObjectContext\n  ) throws -> [Person] {",
      "case \\Person.description_: \"description\"", "static let a_b = #\"\"c\"\"#",
    ]
  )
  func properties(_ line: String) throws {
    #expect(try files()["_Person.swift"]?.contains(line) == true)
  }

  @Test("Scalars are never nil, the base class and the access level are chosen")
  func options() throws {
    let files = try files { options in
      options.scalarAttributes = ["Person.age"]
      options.baseClass = "Base"
      options.accessLevel = .public
      options.imports = ["Zebra"]
    }
    let person = try #require(files["_Person.swift"])
    #expect(person.contains("public nonisolated class _Person: Base {"))
    #expect(person.contains("public var age: Int16 {"))
    #expect(person.contains("public import Foundation\npublic import Heartwood\npublic import Zebra\n"))
    #expect(files["_Pet.swift"]?.contains("import Foundation") == false)
    #expect(files["Cat.swift"]?.contains("public final class Cat: _Cat {") == true)
    #expect(files["_Cat.swift"]?.contains("public nonisolated class _Cat: Pet {") == true)
  }

  @Test("Where one import is of the package, none is without a level, and in one file a module has one level")
  func levelsOfImports() throws {
    let files = try files { $0.accessLevel = .package }
    #expect(files["Cat.swift"]?.hasPrefix("internal import Heartwood\n") == true)
    #expect(files["ZooModel.swift"]?.contains("\ninternal import Foundation\npackage import Heartwood\n") == true)
    #expect(files["_Person.swift"]?.contains("\npackage import Foundation\npackage import Heartwood\n") == true)
    var options = GenerationOptions()
    options.accessLevel = .package
    options.hasHumanFiles = false
    let lines = try CodeGenerator(Self.model(), named: "Zoo", options: options).file(named: "All.swift").contents
      .split(separator: "\n").filter { $0.contains("import ") && !$0.hasPrefix("//") }
    #expect(Set(lines) == ["package import Foundation", "package import Heartwood"])
  }

  @Test("Names that the methods use for themselves hide no property and no parameter")
  func hiddenNames() throws {
    let found = FetchRequestTemplate(
      name: "found",
      entityName: "Box",
      predicate: try FetchPredicate(format: "a == $context OR a == $PREDICATE OR a == $request OR a == $a OR a == $A")
    )
    let box = EntityDefinition.entity(
      "Box",
      .attribute("a", .string, optional: true),
      .toMany("objects", "Box", inverse: nil),
      .toMany("object", "Box", inverse: nil, ordered: true)
    )
    let model = try ManagedObjectModel(entities: [box], fetchRequestTemplates: [found])
    let files = try CodeGenerator(model, named: "Boxes").files()
    let text = try #require(files.first { $0.name == "_Box.swift" }?.contents)
    for line in [
      "for object in objects { self.objects.insert(object) }", "for object in objects { self.objects.remove(object) }",
      "for object in objects { self.object.append(object) }", "for object in objects { self.object.remove(object) }",
      "context contextValue: any FetchArgument,\n", "predicate predicateValue: any FetchArgument,\n",
      "request requestValue: any FetchArgument,\n", "    in context: ManagedObjectContext\n",
      "    a: any FetchArgument,\n", "    a aValue: any FetchArgument,\n", "\"A\": a", "\"a\": aValue",
      "\"PREDICATE\": predicateValue", "\"context\": contextValue", "\"request\": requestValue",
    ] {
      #expect(text.contains(line), "\(line)")
    }
  }

  @Test("A fetch request's settings are those of its template")
  func fetchSettings() throws {
    let template = FetchRequestTemplate(
      name: "all",
      entityName: "Box",
      includesSubentities: false,
      includesPendingChanges: false,
      returnsDistinctResults: true
    )
    let model = try ManagedObjectModel(
      entities: [.entity("Box", .attribute("a", .string, optional: true))],
      fetchRequestTemplates: [template]
    )
    let text = try #require(CodeGenerator(model, named: "M").files().first { $0.name == "_Box.swift" }?.contents)
    for line in [
      "request.includesSubentities = false", "request.includesPendingChanges = false",
      "request.returnsDistinctResults = true",
    ] {
      #expect(text.contains("    \(line)\n"), "\(line)")
    }
  }

  @Test("Fetch requests whose names differ in other signs alone have functions of their own")
  func similarFetches() throws {
    func request(_ name: String, _ entity: String) -> FetchRequestTemplate {
      FetchRequestTemplate(name: name, entityName: entity, resultType: .count)
    }
    let model = try ManagedObjectModel(
      entities: [.entity("Box"), .entity("Crate", parent: "Box")],
      fetchRequestTemplates: [
        request("Myboxes", "Crate"), request("my boxes", "Box"), request("my-boxes", "Box"),
        request("a\r\nfunc\u{0}", "Box"),
      ]
    )
    let files = try CodeGenerator(model, named: "A\nB").files()
    func lines(_ name: String, _ beginning: String) throws -> [String] {
      let text = try #require(files.first { $0.name == name }?.contents)
      return text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(beginning) }
    }
    #expect(
      try lines("_Box.swift", "  static func ")
        == ["countMyboxes", "countMyboxes_", "countAfunc"].map { "  static func \($0)(" }
    )
    #expect(try lines("_Crate.swift", "  static func ") == ["  static func countMyboxes__("])
    let comment = "  /// Performs the fetch request `a  func ` of the model."
    #expect(try lines("_Box.swift", "  /// Performs").last == comment)
    #expect(try lines("A_BModel.swift", "/// The model") == ["/// The model `A B` and the classes of its objects."])
  }

  @Test("What would not be Swift, or the same twice, is written otherwise")
  func awkwardNames() throws {
    let model = try ManagedObjectModel(
      entities: [
        .entity(
          "Box",
          userInfo: ["a.b": "one\r\ntwo", "a-b": "", "-": ""],
          .attribute("description", .string, optional: true),
          .attribute("description_", .string, optional: true)
        )
      ],
      fetchRequestTemplates: [
        FetchRequestTemplate(
          name: "some",
          entityName: "Box",
          predicate: try FetchPredicate(format: "description == $1")
        )
      ]
    )
    let text = try #require(CodeGenerator(model, named: "M").files().first { $0.name == "_Box.swift" }?.contents)
    for line in [
      "static let a_b = #\"\"#", "static let a_b_ = #\"one\\#r\\#ntwo\"#", "static let __ = #\"\"#",
      "var description__: String? {",
      "var description_: String? {", "value1: any FetchArgument",
    ] {
      #expect(text.contains(line), "\(line)")
    }
  }

  @Test("A class called as a word of Swift gets an underscore")
  func reservedWords() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Type", .toMany("boxes", "Box", inverse: "type")),
      .entity("Box", .toOne("type", "Type", inverse: "boxes")),
    ])
    let files = try CodeGenerator(model, named: "M").files()
    #expect(files.map(\.name).sorted() == ["Box.swift", "MModel.swift", "Type_.swift", "_Box.swift", "_Type_.swift"])
    let type = try #require(files.first { $0.name == "_Type_.swift" }?.contents)
    #expect(type.contains("override class var entityName: String { \"Type\" }"))
    #expect(files.first { $0.name == "_Box.swift" }?.contents.contains("var type: Type_? {") == true)
  }

  @Test(
    "Attributes without a type are the object's own",
    arguments: [
      (nil, "Any"), ("NSObject", "Any"), ("Picture", "Picture"), ("App.Picture", "App.Picture"),
      ("NSNumber", "NSNumber"),
      ("NSDate", "Date"), ("NSArray", "[Any]"), ("no class", "Any"),
    ] as [(String?, String)]
  )
  func untypedAttributes(_ className: String?, _ type: String) throws {
    let attribute = AttributeDescription(
      name: "thing",
      type: .undefined,
      isTransient: true,
      attributeValueClassName: className
    )
    let model = try ManagedObjectModel(entities: [EntityDefinition(name: "Box", properties: [.attribute(attribute)])])
    let text = try #require(CodeGenerator(model, named: "M").files().first { $0.name == "_Box.swift" }?.contents)
    #expect(text.contains("var thing: \(type)?\n"))
    #expect(!text.contains("thingKey"))
    #expect(text.contains("case \\Box.thing: \"thing\""))
    #expect(text.contains("import Foundation\n") == ["NSNumber", "Date"].contains(type))
  }

  @Test("The user info says what an attribute without a type holds")
  func untypedAttributeOfOwnType() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Box", .attribute("thing", .undefined, transient: true, userInfo: ["swiftType": "Mood"]))
    ])
    let text = try #require(CodeGenerator(model, named: "M").files().first { $0.name == "_Box.swift" }?.contents)
    #expect(text.contains("var thing: Mood?\n"))
  }

  @Test("A class that would hide a type of the code is refused", arguments: ["Data", "RelatedSet", "Date"])
  func hiddenTypes(_ name: String) throws {
    let model = try ManagedObjectModel(entities: [.entity(name, .attribute("at", .date, optional: true))])
    let error = #expect(throws: GenerationError.self) { try CodeGenerator(model, named: "M").files() }
    #expect(error?.description.contains("class \(name) ") == true)
    let other = try ManagedObjectModel(entities: [.entity("Box", .attribute("at", .date, optional: true))])
    #expect(throws: GenerationError.self) { try CodeGenerator(other, named: "ManagedObject").files() }
  }

  @Test("Files of subentities import what is to be imported where an attribute has a type of one's own")
  func importsOfSubentities() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Pet"),
      .entity("Cat", parent: "Pet", .attribute("mood", .integer32, userInfo: ["swiftType": "Mood"])),
      .entity("Dog", parent: "Pet", .attribute("size", .integer32)),
    ])
    var options = GenerationOptions()
    options.imports = ["Zebra"]
    let files = try CodeGenerator(model, named: "Zoo", options: options).files()
    let importing = files.filter { $0.contents.contains("import Zebra\n") }.map(\.name).sorted()
    #expect(importing == ["_Cat.swift", "_Pet.swift"])
  }

  @Test("The same model gives the same text, and the model comes back from it")
  func deterministic() throws {
    #expect(try files() == files())
    let text = try #require(try files()["ZooModel.swift"])
    let json = try #require(text.split(separator: "\n").first { $0.contains("#\"{") })
    let model = try ManagedObjectModel(encoded: .init(json.drop { $0 != "{" }.dropLast(2).utf8))
    #expect(model == (try Self.model()))
  }

  @Test("Templates of one's own are used, and machine files are known by their first line")
  func templates() throws {
    let files = try files { options in
      options.machineTemplate = try? Template("// {{className}}: {{#attributes}}{{name}} {{/attributes}}\n")
      options.humanTemplate = try? Template("// {{entityName}}\n")
    }
    #expect(files["_Cat.swift"] == GeneratedFile.header + "\n// Cat: lives \n")
    #expect(files["Cat.swift"] == "// Cat\n")
  }

  @Test("Files of entities that are gone are listed")
  func orphans() throws {
    let generator = try CodeGenerator(Self.model(), named: "Zoo")
    let lines = [
      "_Dog.swift": GeneratedFile.header, "Dog.swift": "import Heartwood", "_Cat.swift": GeneratedFile.header,
      "Other.swift": "import Heartwood",
    ]
    #expect(try generator.orphans(among: lines) == ["Dog.swift", "_Dog.swift"])
  }

  @Test("Two entities of one class, and what is no class, are refused")
  func faults() throws {
    func generate(_ classes: [String?]) throws -> [GeneratedFile] {
      let entities = classes.enumerated().map { EntityDefinition(name: "E\($0)", managedObjectClassName: $1) }
      return try CodeGenerator(ManagedObjectModel(entities: entities), named: "M").files()
    }
    #expect(throws: GenerationError.self) { try generate(["A", "A"]) }
    #expect(throws: GenerationError.self) { try generate(["A", "_A"]) }
    #expect(throws: GenerationError.self) { try generate(["a b"]) }
    #expect(try generate([".Module.A", "NSManagedObject"]).map(\.name).contains("A.swift"))
  }
}
