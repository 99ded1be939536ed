import Foundation
import Heartwood
import HeartwoodTesting

/// Three levels of entities, relationships that lead to the upper ones, and values that are few, so that they meet.
enum QueryModel {
  static let tag = "tag"

  static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: [thing, animal, dog, puppy, cat, plant, person, chief, note])
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  private static let thing = EntityDefinition.entity(
    "Thing",
    .attribute(tag, .integer64),
    .attribute("name", .string, optional: true),
    .attribute("count", .integer32, optional: true),
    .attribute("size", .double, optional: true),
    .toOne("owner", "Person", inverse: "things"),
    .toOne("whole", "Thing", inverse: "parts"),
    .toMany("parts", "Thing", inverse: "whole", ordered: true),
    .toMany("friends", "Thing", inverse: "friends"),
    .toMany("notes", "Note", inverse: "things")
  )

  private static let animal = EntityDefinition.entity(
    "Animal",
    parent: "Thing",
    .attribute("legs", .integer16, default: .integer(4)),
    .attribute("label", .string, optional: true),
    .toOne("keeper", "Person", inverse: "pets")
  )

  private static let dog = EntityDefinition.entity(
    "Dog",
    parent: "Animal",
    .attribute("price", .decimal, optional: true),
    .attribute("loud", .boolean, optional: true),
    .toOne("enemy", "Cat", inverse: "enemies")
  )

  private static let puppy = EntityDefinition.entity(
    "Puppy",
    parent: "Dog",
    .attribute("weeks", .integer64, optional: true)
  )

  private static let cat = EntityDefinition.entity(
    "Cat",
    parent: "Animal",
    .attribute("born", .date, optional: true),
    .toMany("enemies", "Dog", inverse: "enemy")
  )

  private static let plant = EntityDefinition.entity(
    "Plant",
    parent: "Thing",
    .attribute("height", .float, optional: true),
    .toOne("eater", "Animal", inverse: nil)
  )

  private static let person = EntityDefinition.entity(
    "Person",
    .attribute(tag, .integer64),
    .attribute("name", .string, optional: true),
    .attribute("age", .integer16, optional: true),
    .attribute("key", .uuid, optional: true),
    .toMany("things", "Thing", inverse: "owner"),
    .toMany("pets", "Animal", inverse: "keeper"),
    .toOne("boss", "Chief", inverse: "staff")
  )

  private static let chief = EntityDefinition.entity(
    "Chief",
    parent: "Person",
    .attribute("title", .string, optional: true),
    .toMany("staff", "Person", inverse: "boss")
  )

  private static let note = EntityDefinition.entity(
    "Note",
    .attribute(tag, .integer64),
    .attribute("text", .string, optional: true),
    .attribute("site", .uri, optional: true),
    .toMany("things", "Thing", inverse: "notes")
  )

  private static let texts = [
    "", "a", "A", "abc", "ABC", "xabcx", "é", "e\u{301}", "É", "straße", "STRASSE", "10", "9", "a b", "a%", "ß",
  ]

  static func value(of type: AttributeType, _ generator: inout SeededGenerator) -> PropertyValue {
    let number = Int.random(in: -2...4, using: &generator)
    switch type {
    case .integer16, .integer32, .integer64: return .integer(Int64(number))
    case .decimal: return .decimal(Decimal(number) / 4)
    case .double: return .double(Double(number) / 4)
    case .float: return .float(Float(number) / 4)
    case .string: return .string(texts.randomElement(using: &generator) ?? "")
    case .boolean: return .boolean(number > 1)
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number) / 2))
    case .binary, .transformable, .undefined: return .binary(Data(repeating: 1, count: abs(number)))
    case .uuid: return .uuid(UUID(uuid: (UInt8(number + 2), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    case .uri: return URL(string: "https://example.org/\(number)").map(PropertyValue.uri) ?? .null
    }
  }
}
