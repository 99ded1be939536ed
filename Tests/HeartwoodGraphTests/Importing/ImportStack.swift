import Foundation
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting

/// A model that says in its `userInfo` how its entities are imported, as those made for MagicalRecord do.
struct ImportStack {
  let coordinator: PersistentStoreCoordinator
  let context: ManagedObjectContext
  private let folder: ScratchFolder?

  init(_ kind: TestStoreKind = .inMemory, _ model: ManagedObjectModel? = nil) throws {
    let model = try model ?? Self.model()
    let classes: [ManagedObject.Type] = [Contact.self, Company.self].filter {
      model.entity(named: $0.entityName) != nil
    }
    coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: TestStack.registry,
      objectClasses: classes,
      fileSystem: InMemoryFileSystem()
    )
    folder = kind == .sqlite ? try ScratchFolder() : nil
    switch kind {
    case .inMemory: try coordinator.addPersistentStore(type: .inMemory, at: nil)
    case .binary: try coordinator.addPersistentStore(type: .binary, at: TestStack.url)
    case .incremental:
      var options = StoreOptions()
      options[.recordDatabase] = RecordDatabase()
      try coordinator.addPersistentStore(type: RecordStore.typeDescription.type, at: nil, options: options)
    case .sqlite: try coordinator.addPersistentStore(type: .sqlite, at: folder?.url.appending(path: "contacts.sqlite"))
    }
    context = ManagedObjectContext(coordinator)
  }

  static func model(
    _ changeContact: (inout EntityDefinition) -> Void = { _ in }
  ) throws -> ManagedObjectModel {
    var contact = EntityDefinition.entity(
      "Contact",
      .attribute("id", .integer64, optional: true),
      .attribute(
        "name",
        .string,
        optional: true,
        userInfo: [
          "mappedKeyName": "full_name", "mappedKeyName.1": "name.full", "mappedKeyName.3": "title",
        ]
      ),
      .attribute("born", .date, optional: true, userInfo: ["dateFormat": "d. MMMM yyyy"]),
      .attribute("seen", .date, optional: true, userInfo: ["dateFormat": "UnixTime"]),
      .attribute("updated", .date, optional: true),
      .attribute(
        "rank",
        .integer16,
        optional: true,
        default: .integer(5),
        userInfo: ["useDefaultValueWhenNotPresent": "YES"]
      ),
      .attribute("balance", .decimal, optional: true, default: .decimal(1)),
      .attribute("score", .double, optional: true),
      .attribute("active", .boolean, optional: true),
      .attribute("photo", .binary, optional: true),
      .attribute("token", .uuid, optional: true),
      .attribute("site", .uri, optional: true),
      .toOne("employer", "Company", inverse: "staff", userInfo: ["mappedKeyName": "job.company"]),
      .toMany("tags", "Tag", inverse: "contacts", ordered: true, userInfo: ["relatedByAttribute": "name"]),
      .toMany("friends", "Contact", inverse: "friends"),
      .toMany("notes", "Note", inverse: nil)
    )
    contact.userInfo = ["relatedByAttribute": "id"]
    changeContact(&contact)
    return try ManagedObjectModel(entities: [
      contact,
      .entity(
        "Company",
        .attribute("companyID", .string, optional: true, userInfo: ["mappedKeyName": "id"]),
        .attribute("name", .string, optional: true),
        .toMany("staff", "Contact", inverse: "employer")
      ),
      .entity(
        "Tag",
        .attribute("name", .string, optional: true),
        .toMany("contacts", "Contact", inverse: "tags")
      ),
      .entity("Note", .attribute("text", .string, optional: true)),
    ])
  }
}

/// It has a say in its import.
final class Contact: ManagedObject, ImportingObject {
  struct Refusal: Error {}

  static let idKey = AttributeKey<Int?>("id")
  static let nameKey = AttributeKey<String?>("name")
  static let bornKey = AttributeKey<Date?>("born")
  static let seenKey = AttributeKey<Date?>("seen")
  static let updatedKey = AttributeKey<Date?>("updated")
  static let rankKey = AttributeKey<Int16?>("rank")
  static let balanceKey = AttributeKey<Decimal?>("balance")
  static let scoreKey = AttributeKey<Double?>("score")
  static let activeKey = AttributeKey<Bool?>("active")
  static let employerKey = ToOneKey<Company>("employer")
  static let tagsKey = ToManyKey<ManagedObject>("tags")
  static let friendsKey = ToManyKey<Contact>("friends")
  static let notesKey = ToManyKey<ManagedObject>("notes")

  var events: [String] = []

  func shouldImport(_ record: ImportValue) throws -> Bool {
    if record["refused"] == "with an error" { throw Refusal() }
    return record["refused"] == nil
  }

  func willImport(_ record: ImportValue) throws { events.append("will") }

  func importValue(_ value: ImportValue, forKey name: String) throws -> Bool {
    guard name == "score", case .object = value else { return false }
    self[Self.scoreKey] = value["points"]?.propertyValue(of: .double).flatMap { Double(propertyValue: $0) }
    return true
  }

  func didImport(_ record: ImportValue) throws {
    events.append("did \(self[Self.friendsKey].count)")
    if let id = record["becomes"]?.propertyValue(of: .integer64) { self[Self.idKey] = Int(propertyValue: id) }
    if record["leaves"] == true { managedObjectContext?.delete(self) }
  }
}

final class Company: ManagedObject {
  static let idKey = AttributeKey<String?>("companyID")
  static let nameKey = AttributeKey<String?>("name")
  static let staffKey = ToManyKey<Contact>("staff")
}
