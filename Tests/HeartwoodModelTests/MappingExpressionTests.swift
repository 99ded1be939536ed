import HeartwoodModel
import Testing

@Suite("Expressions of mapping models")
struct MappingExpressionTests {
  private static let expressions: [(String, MappingExpression)] = [
    ("$source", .variable("source")),
    ("$source.name", .source("name")),
    ("$source.country.continent", .source("country.continent")),
    ("$source.countries.@distinctUnionOfSets.moods", .source("countries.@distinctUnionOfSets.moods")),
    ("5", .constant(.integer(5))),
    (
      "FUNCTION($entityPolicy, \"fullName:last:\", $source.first, $source.last)",
      .function(on: .variable("entityPolicy"), name: "fullName:last:", [.source("first"), .source("last")])
    ),
    (
      "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"AToB\", $source.items)",
      .destinationInstances(forEntityMappingNamed: "AToB", sourceInstances: "items")
    ),
    (
      "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"items\", $source.items)",
      .destinationInstances(forSourceRelationshipNamed: "items")
    ),
  ]

  @Test(arguments: expressions)
  func textsAreReadAndWritten(_ text: String, _ expression: MappingExpression) throws {
    #expect(try MappingExpression(format: text) == expression)
    #expect(try MappingExpression(format: " \(text)\n") == expression)
    #expect(try MappingExpression(format: "\(expression)") == expression)
  }

  @Test func argumentsMayHaveCommasAndBrackets() throws {
    let expression = try MappingExpression(format: "FUNCTION($entityPolicy, 'f:g:', \"a, (b\", max({1, 2}))")
    guard case .function(_, "f:g:", let arguments) = expression else {
      Issue.record("\(expression)")
      return
    }
    #expect(arguments.count == 2)
    #expect(arguments.first == .constant(.string("a, (b")))
  }

  @Test(arguments: ["$source.cents / 100.0", "CAST($source.count, 'String')"])
  func theRestIsComputed(_ text: String) throws {
    guard case .computed = try MappingExpression(format: text) else {
      Issue.record("\(text)")
      return
    }
  }

  @Test(arguments: ["", "$", "FUNCTION($manager", "FUNCTION()", "$source +", "$source..name"])
  func whatIsNotUnderstoodIsAnError(_ text: String) {
    #expect(throws: FetchPredicateError.self) { try MappingExpression(format: text) }
  }
}
