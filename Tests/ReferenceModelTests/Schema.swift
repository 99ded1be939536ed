import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore

/// A model that sequences of operations run on, and the kinds of stores that can keep its records.
struct Schema: Sendable {
  let name: String
  let model: ManagedObjectModel
  let storeKinds: [StoreKind]
  /// Whether attributes get only such values as every store of ``storeKinds`` can keep.
  let isTame: Bool
  /// Whether every store of ``storeKinds`` can keep a history.
  var hasHistory: Bool { !storeKinds.contains(.csv) && !storeKinds.contains(.sqlite) }

  /// Whether stores keep a relationship and its inverse each for itself. Where both are one, what takes back one of them, or puts it on
  /// top of newer values, does so with the other.
  var keepsBothSides: Bool { !storeKinds.contains(.sqlite) }

  /// Whether stores keep what is no number.
  var keepsNaN: Bool { !storeKinds.contains(.sqlite) }

  static let all = [graph, table, database]

  /// Relationships and delete rules of every kind, inherited and to itself, and attributes of every type.
  static let graph = Schema(
    name: "graph",
    model: makeModel([
      person, employee, desk, badge, team, node, folder, file, image, link, tag, contact, values(named: "Values"),
    ]),
    storeKinds: [.inMemory, .binary],
    isTame: false
  )

  /// One entity, which a text file can keep.
  static let table = Schema(
    name: "table",
    model: makeModel([row]),
    storeKinds: [.inMemory, .binary, .csv],
    isTame: true
  )

  /// The same, in a store of which only what is needed is read. There an object is in one to-many relationship without inverse at most,
  /// and no to-many relationship leads to what is gone.
  static let database = Schema(
    name: "database",
    model: makeModel([
      person, employee, desk, badge, team, node, folder, plainFile, image, plainLink, tag, contact,
      values(named: "Values"),
    ]),
    storeKinds: [.sqlite],
    isTame: true
  )

  func entity(_ name: String) -> EntityDescription {
    guard let entity = model.entity(named: name) else { preconditionFailure("\(self.name) has no entity \(name).") }
    return entity
  }

  private static func makeModel(_ entities: [EntityDefinition]) -> ManagedObjectModel {
    do {
      return try ManagedObjectModel(entities: entities)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

/// A kind of store that runs are made on.
enum StoreKind: String, Sendable, CaseIterable {
  case inMemory, binary, csv, sqlite

  var type: StoreType {
    switch self {
    case .inMemory: .inMemory
    case .binary: .binary
    case .csv: .csv
    case .sqlite: .sqlite
    }
  }

  var hasFile: Bool { self != .inMemory }
}

// MARK: People

extension Schema {
  /// One to one, one to many and many to many, all of them to itself; a required end; denial.
  private static let person = EntityDefinition.entity(
    "Person",
    .attribute(AttributeDescription(name: "name", type: .string, preservesValueInHistoryOnDeletion: true)),
    .attribute("mood", .string, optional: true, transient: true),
    .toMany("contacts", "Contact", inverse: "person"),
    .toOne("spouse", "Person", inverse: "spouse"),
    .toMany("friends", "Person", inverse: "friends"),
    .toOne("mentor", "Person", inverse: "students"),
    .toMany("students", "Person", inverse: "mentor", ordered: true),
    .toOne("badge", "Badge", inverse: "owner", deleteRule: .cascade),
    .toMany("teams", "Team", inverse: "members"),
    .toMany("folders", "Folder", inverse: "owner", deleteRule: .deny)
  )

  private static let employee = EntityDefinition.entity(
    "Employee",
    parent: "Person",
    .attribute("salary", .integer32, optional: true),
    .toOne("desk", "Desk", inverse: "employee", deleteRule: .deny)
  )

  private static let desk = EntityDefinition.entity(
    "Desk",
    .attribute("number", .integer16, optional: true),
    .toOne("employee", "Employee", inverse: "desk")
  )

  private static let badge = EntityDefinition.entity(
    "Badge",
    .attribute(
      "number",
      .integer64,
      default: .integer(1),
      rules: AttributeRules(minValue: .integer(0), maxValue: .integer(99))
    ),
    .toOne("owner", "Person", inverse: "badge", optional: false, deleteRule: .cascade)
  )

  /// Objects that are the same where their addresses are.
  private static let contact = EntityDefinition.entity(
    "Contact",
    unique: [["address"]],
    .attribute("address", .string, optional: true),
    .attribute("count", .integer16, optional: true),
    .toOne("person", "Person", inverse: "contacts")
  )

  private static let team = EntityDefinition.entity(
    "Team",
    .attribute("code", .string, default: .string("T"), rules: AttributeRules(minLength: 1, maxLength: 4)),
    .toMany("members", "Person", inverse: "teams", ordered: true, count: 2...4)
  )
}

// MARK: Files

extension Schema {
  /// Inherited ends of relationships, a tree that can become a circle, and links without a way back.
  private static let node = EntityDefinition.entity(
    "Node",
    abstract: true,
    .attribute("label", .string, optional: true),
    .toOne("folder", "Folder", inverse: "nodes")
  )

  private static let folder = EntityDefinition.entity(
    "Folder",
    parent: "Node",
    .attribute("title", .string, default: .string("Folder")),
    .toMany("nodes", "Node", inverse: "folder", ordered: true, deleteRule: .cascade),
    .toOne("owner", "Person", inverse: "folders")
  )

  private static let file = EntityDefinition.entity(
    "File",
    parent: "Node",
    .attribute("size", .double, optional: true, default: .double(0)),
    .toMany("tags", "Tag", inverse: "files", deleteRule: .noAction)
  )

  private static let plainFile = EntityDefinition.entity(
    "File",
    parent: "Node",
    .attribute("size", .double, optional: true, default: .double(0)),
    .toMany("tags", "Tag", inverse: "files")
  )

  private static let image = EntityDefinition.entity(
    "Image",
    parent: "File",
    .attribute("width", .integer16, default: .integer(1)),
    .toOne("original", "Image", inverse: "copies"),
    .toMany("copies", "Image", inverse: "original", deleteRule: .cascade)
  )

  private static let link = EntityDefinition.entity(
    "Link",
    parent: "Node",
    .toOne("target", "Node", inverse: nil, deleteRule: .noAction),
    .toMany("others", "Node", inverse: nil, ordered: true, deleteRule: .noAction)
  )

  private static let plainLink = EntityDefinition.entity(
    "Link",
    parent: "Node",
    .toOne("target", "Node", inverse: nil, deleteRule: .noAction)
  )

  private static let tag = EntityDefinition.entity(
    "Tag",
    .attribute("name", .string, optional: true),
    .toMany("files", "File", inverse: "tags", ordered: true)
  )
}

// MARK: Values

extension Schema {
  private static func values(named name: String) -> EntityDefinition {
    EntityDefinition(name: name, properties: attributes)
  }

  private static var attributes: [PropertyDescription] {
    AttributeType.allCases.map { .attribute("\($0)", $0, optional: true) } + [
      .attribute("required", .integer32, default: .integer(5))
    ]
  }

  private static let row = EntityDefinition(
    name: "Row",
    properties: attributes + [
      .toOne("previous", "Row", inverse: "next"),
      .toOne("next", "Row", inverse: "previous", deleteRule: .cascade),
      .toMany("peers", "Row", inverse: "peers", ordered: true),
    ]
  )
}
