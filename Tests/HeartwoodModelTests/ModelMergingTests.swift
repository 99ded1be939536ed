import HeartwoodModel
import Testing

@Suite("Merging models")
struct ModelMergingTests {
  private func model(
    _ entities: EntityDefinition...,
    configurations: [String: [String]] = [:],
    requests: [FetchRequestTemplate] = [],
    texts: [String: String] = [:]
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: entities,
      configurations: configurations,
      versionIdentifiers: entities.map(\.name),
      fetchRequestTemplates: requests,
      localizationDictionary: texts
    )
  }

  @Test("The whole has what each model has, and what is alike once")
  func merged() throws {
    let shared = EntityDefinition.entity("S", .attribute("a", .string))
    let request = FetchRequestTemplate(name: "r", entityName: "S")
    let first = try model(
      .entity("A"),
      shared,
      configurations: ["C": ["A"]],
      requests: [request],
      texts: ["Entity/A": "x"]
    )
    let second = try model(
      shared,
      .entity("B"),
      configurations: ["C": ["B", "S"]],
      requests: [request],
      texts: ["Entity/A": "y"]
    )
    let whole = try ManagedObjectModel(merging: [first, second])
    #expect(whole.entities.map(\.name) == ["A", "S", "B"])
    #expect(whole.configurations == ["C": ["A", "B", "S"]])
    #expect(whole.versionIdentifiers == ["A", "S", "B"])
    #expect(whole.fetchRequestTemplates == [request])
    #expect(whole.localizationDictionary == ["Entity/A": "x"])
    #expect(try ManagedObjectModel(merging: []).entities.isEmpty)
  }

  @Test("Entities of one name that differ are refused")
  func conflict() throws {
    let models = [try model(.entity("A", .attribute("a", .string))), try model(.entity("A", .attribute("a", .date)))]
    let error = #expect(throws: ModelValidationError.self) { try ManagedObjectModel(merging: models) }
    #expect(error?.faults.first?.message.contains("same name") == true)
  }

  @Test("Names are shown in the user's language")
  func localized() throws {
    let model = try model(.entity("A", .attribute("a", .string), .attribute("b", .string)), .entity("B", parent: "A"))
    let german = model.localized(by: ["Entity/A": "Ding", "Property/a/Entity/A": "Erstes", "Property/b": "Zweites"])
    let child = try #require(german.entity(named: "B"))
    #expect(german.localizedName(ofEntity: "A") == "Ding")
    #expect(german.localizedName(ofEntity: "B") == "B")
    #expect(german.localizedName(ofProperty: "a", in: child) == "Erstes")
    #expect(german.localizedName(ofProperty: "b", in: child) == "Zweites")
    #expect(model.localizedName(ofProperty: "b", in: child) == "b")
    #expect(try ManagedObjectModel(encoded: german.encoded()) == german)
  }
}
