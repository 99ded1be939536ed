import Foundation
import HeartwoodMacros

enum Priority: Int16, AttributeValue {
  case low, high
  static let absentValue = low
}

struct Place: CodableAttributeValue, Hashable {
  var latitude = 0.0
  var longitude = 0.0
  static let absentValue = Place()
}

enum Rules {
  static let always = [ValidationPredicate(.literal(true), warning: "is wrong.")]
}

struct ReversingTransformer: AttributeTransformer {
  func data(from value: [String]) -> Data { Data(value.joined(separator: "\n").utf8.reversed()) }
  func value(from data: Data) -> [String] {
    String(decoding: data.reversed(), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

@Entity(
  abstract: true,
  unique: [["memo", "code"]],
  indexes: [FetchIndexDescription(name: "byDueAndMemo", properties: ["due", "memo"])],
  renamedFrom: "Note",
  versionHashModifier: "2",
  userInfo: ["a": "b"]
)
class Item: ManagedObject {
  @Attribute(.indexed, renamedFrom: "title", versionHashModifier: "1", userInfo: ["k": "v"]) var memo: String = ""
  @Attribute(.unique) var code: String?
  @Attribute var due: Date?
}

@Entity final class Errand: Item {
  @Attribute var isDone: Bool = false
  @Attribute(minValue: 1, maxValue: 5) var stars: Int16 = 3
  @Attribute(.required, minLength: 2, maxLength: 10, pattern: "[a-z]*", predicates: Rules.always)
  var tag: String? = "none"
  @Attribute(.optional, type: .integer32) var count: Int
  @Attribute var priority: Priority = .low
  @Attribute var place: Place?
  @Attribute(.transient) var note: String?
  @Attribute(.externalStorage, .preservedOnDeletion) var picture: Data?
  @Attribute(derivedFrom: "uppercase:(memo)") var shout: String?
  @Attribute(transformer: "ReversingTransformer") var secret: [String]?
  @Attribute(name: "description") var text: String?
  @Attribute var `default`: Double = -1.5
  @Relationship(.required, inverse: \List.items, minCount: 1, versionHashModifier: "1", userInfo: ["k": "v"])
  var list: List?
  @Relationship(.ordered, deleteRule: .noAction, minCount: 1, maxCount: 3, renamedFrom: "parts") var steps: [Errand]
  @Relationship(.transient, inverse: "fans") var fans: Set<Errand>
  /// The graph knows nothing of it.
  var counter = 0
}

@Entity("Folder", userInfo: [:]) final class List: ManagedObject {
  @Attribute var name: String = ""
  @Attribute(derivedFrom: "items.@count") var size: Int?
  @Relationship(deleteRule: .cascade) var items: RelatedSet<Errand>
  @Relationship(inverse: \List.children) var parent: List?
  @Relationship var children: RelatedList<List>
}
