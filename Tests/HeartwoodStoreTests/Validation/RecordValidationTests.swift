import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct RecordValidationTests {
  /// A value of one property, and what is wrong with it.
  struct Case: Sendable, CustomTestStringConvertible {
    let property: PropertyDescription
    let value: PropertyValue
    let kinds: [ValidationFault.Kind]

    init(_ type: AttributeType, _ rules: AttributeRules, _ value: PropertyValue, _ kinds: ValidationFault.Kind...) {
      self.property = .attribute("p", type, optional: true, rules: rules)
      self.value = value
      self.kinds = kinds
    }

    init(_ property: PropertyDescription, _ value: PropertyValue, _ kinds: ValidationFault.Kind...) {
      self.property = property
      self.value = value
      self.kinds = kinds
    }

    var testDescription: String { "\(property.typeDescription) \(value): \(kinds)" }
  }

  private static func date(_ seconds: Double) -> PropertyValue {
    .date(Date(timeIntervalSinceReferenceDate: seconds))
  }

  private static let whole = AttributeRules(minValue: .integer(-1), maxValue: .integer(3))
  private static let real = AttributeRules(minValue: .double(0.5), maxValue: .double(.infinity))
  private static let days = AttributeRules(minValue: date(0), maxValue: date(86_400))
  private static let short = AttributeRules(minLength: 2, maxLength: 3)
  private static let word = AttributeRules(minLength: 2, pattern: "[a-z]+")

  static let cases: [Case] =
    [
      Case(.integer16, whole, .integer(-1)),
      Case(.integer16, whole, .integer(3)),
      Case(.integer16, whole, .null),
      Case(.integer16, whole, .integer(-2), .tooSmall),
      Case(.integer64, whole, .integer(.max), .tooGreat),
      Case(.integer16, whole, .integer(40_000), .tooGreat),
      Case(.integer16, whole, .integer(-40_000), .tooSmall),
      Case(.integer32, whole, .string("7"), .wrongType),
      Case(
        .decimal,
        AttributeRules(minValue: .decimal(1)),
        .decimal(Decimal(sign: .plus, exponent: -1, significand: 9)),
        .tooSmall
      ),
      Case(.decimal, AttributeRules(maxValue: .decimal(1)), .decimal(1)),
      Case(.decimal, AttributeRules(maxValue: .decimal(1)), .decimal(.nan), .tooGreat),
      Case(.double, real, .double(0.5)),
      Case(.double, real, .double(.infinity)),
      Case(.double, real, .double(0.5.nextDown), .tooSmall),
      Case(.double, real, .double(.nan), .tooSmall),
      Case(.float, AttributeRules(maxValue: .float(1)), .float(1.5), .tooGreat),
      Case(.float, AttributeRules(maxValue: .float(1)), .float(-.infinity)),
      Case(.date, days, date(0)),
      Case(.date, days, date(-1), .tooEarly),
      Case(.date, days, date(86_401), .tooLate),
      Case(.date, days, date(.nan), .tooEarly),
      Case(.date, AttributeRules(maxValue: date(0)), date(.nan), .tooLate),
      Case(.string, short, .string("ab")),
      Case(.string, short, .string("é\u{301}")),
      Case(.string, short, .string(""), .tooShort),
      Case(.string, short, .string("a"), .tooShort),
      Case(.string, short, .string("ab😀"), .tooLong),
      Case(.string, word, .string("abc")),
      Case(.string, word, .string("abC"), .patternMismatch),
      Case(.string, word, .string("A"), .tooShort, .patternMismatch),
      Case(.string, word, .null),
      Case(.string, word, .integer(1), .wrongType),
      Case(.attribute("p", .string), .null, .missingValue),
      Case(.attribute("p", .string, rules: word), .null, .missingValue),
      Case(.attribute("p", .string, transient: true, rules: word), .string("A")),
      Case(.toOne("p", "E", inverse: nil, optional: false), .null, .missingValue),
      Case(.toMany("p", "E", inverse: nil, optional: false), .toMany([])),
      Case(.toMany("p", "E", inverse: nil, optional: false, count: 0...3), .toMany([])),
      Case(.toMany("p", "E", inverse: nil, optional: false, count: 1...3), .toMany([]), .missingValue),
      Case(.toMany("p", "E", inverse: nil, count: 2...3), .toMany([])),
      Case(.toMany("p", "E", inverse: nil), .string("x"), .wrongType),
    ]

  private func id(_ property: PropertyDescription...) throws -> ManagedObjectID {
    let model = try ManagedObjectModel(entities: [EntityDefinition(name: "E", properties: property)])
    return .temporary(in: ObjectIDScope(storeIdentifier: nil, entity: try #require(model.entity(named: "E"))))
  }

  @Test("Each value has the faults that it should", arguments: cases)
  func kinds(_ given: Case) throws {
    let id = try id(given.property)
    let faults = RecordValidation.faults(in: [given.value], of: id)
    #expect(faults.map(\.kind) == given.kinds)
    for fault in faults {
      #expect(fault.objectID == id)
      #expect(fault.entity == "E")
      #expect(fault.property == "p")
      #expect(fault.message.hasPrefix("E.p "))
    }
  }

  @Test("A relationship leads to as many objects as it may", arguments: 0...4)
  func counts(_ count: Int) throws {
    let id = try id(.toMany("p", "E", inverse: nil, count: 2...3))
    let faults = RecordValidation.faults(in: [.toMany(Array(repeating: id, count: count))], of: id)
    #expect(faults.map(\.kind) == (count == 1 ? [.tooFew] : count == 4 ? [.tooMany] : []))
  }

  @Test("Messages say the rule and not the value")
  func messages() throws {
    let id = try id(
      .attribute("level", .integer64, rules: AttributeRules(minValue: .integer(10))),
      .attribute("since", .date, rules: AttributeRules(maxValue: Self.date(0))),
      .attribute("secret", .string, rules: AttributeRules(maxLength: 3, pattern: "[a-z]*"))
    )
    let faults = RecordValidation.faults(in: [.integer(7), Self.date(1), .string("Hunter2")], of: id)
    #expect(
      faults.map(\.message) == [
        "E.level is below the least value, 10.", "E.since is after the latest date.",
        "E.secret has 7 characters; at most 3 are allowed.", "E.secret does not match its pattern.",
      ]
    )
  }

  @Test("Rules that are inherited hold for subentities")
  func inheritance() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Child", parent: "Base", .attribute("b", .string, optional: true)),
      .entity("Base", .attribute("a", .string, rules: AttributeRules(minLength: 2))),
    ])
    let child = try #require(model.entity(named: "Child"))
    let id = ManagedObjectID.temporary(in: ObjectIDScope(storeIdentifier: nil, entity: child))
    let faults = RecordValidation.faults(in: [.string("x"), .string("")], of: id)
    #expect(faults.map(\.message) == ["Child.a has 1 characters; at least 2 are required."])
  }

  // MARK: Predicates

  private static func faults(_ format: String, _ type: AttributeType, _ value: PropertyValue) throws
    -> [ValidationFault]
  {
    let rules = AttributeRules(predicates: [try ValidationPredicate(format, warning: "is not as it should be.")])
    let model = try ManagedObjectModel(entities: [.entity("E", .attribute("p", type, optional: true, rules: rules))])
    let id = ManagedObjectID.temporary(in: ObjectIDScope(storeIdentifier: nil, entity: model.entities[0]))
    return RecordValidation.faults(in: [value], of: id)
  }

  @Test(
    arguments: [
      ("SELF == 0 OR SELF >= 18", AttributeType.integer32, PropertyValue.integer(0), true),
      ("SELF == 0 OR SELF >= 18", .integer32, .integer(17), false),
      ("SELF == 0 OR SELF >= 18", .integer32, .null, true),
      ("SELF BEGINSWITH[c] 'ab' AND length(SELF) < 4", .string, .string("ABc"), true),
      ("SELF BEGINSWITH[c] 'ab' AND length(SELF) < 4", .string, .string("ABcd"), false),
      ("NOT SELF IN {'a', 'b'}", .string, .string("b"), false),
      ("SELF < now()", .date, .date(Date(timeIntervalSinceReferenceDate: 0)), true),
      ("SELF < now()", .date, .date(Date.distantFuture), false),
    ]
  )
  func predicatesAreMet(_ format: String, _ type: AttributeType, _ value: PropertyValue, _ isMet: Bool) throws {
    let faults = try Self.faults(format, type, value)
    #expect(faults.map(\.kind) == (isMet ? [] : [.predicateNotMet]))
    #expect(faults.map(\.message) == (isMet ? [] : ["E.p is not as it should be."]))
  }

  @Test(arguments: ["other > 1", "SELF BEGINSWITH 'a'", "SELF.@count > 1"])
  func predicatesThatDoNotSuitAreFaultsOfTheModel(_ format: String) throws {
    let error = #expect(throws: ModelValidationError.self) { try Self.faults(format, .integer16, .integer(1)) }
    #expect("\(try #require(error))".contains("E.p"))
  }

  @Test func predicatesAreCodedWithTheModel() throws {
    let rules = AttributeRules(predicates: [try ValidationPredicate("SELF > %@", 3, warning: "is small.")])
    let model = try ManagedObjectModel(entities: [.entity("E", .attribute("p", .integer16, rules: rules))])
    let copy = try ManagedObjectModel(encoded: try model.encoded())
    #expect(copy.entities[0].properties[0].attribute?.rules == rules)
  }
}
