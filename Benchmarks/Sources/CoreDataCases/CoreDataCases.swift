import ArgumentParser
import BenchmarkSupport
import CoreData

/// The cases that measure Core Data's API. Each prints one line of JSON.
@main
struct CoreDataCases: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "core-data-cases",
    abstract: "The cases that measure Core Data's API.",
    subcommands: [ObjectsCommand.self]
  )
}

/// Fetches all to-dos as objects and reads every value of each.
struct ObjectsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "objects", abstract: "Fetch all objects and read them.")

  @Argument var path: String

  func run() throws {
    let clock = ContinuousClock()
    let start = clock.now
    let context = try Item.context(of: path)
    let objects = try context.fetch(NSFetchRequest<Item>(entityName: "Item"))
    let fetched = clock.now
    var checksum = ToDoChecksum()
    for object in objects {
      checksum.add(
        isDone: object.done,
        memo: object.memo,
        sortOrder: Int64(object.sortOrder),
        creationDate: object.creationDate,
        recordID: object.recordID
      )
    }
    let end = clock.now
    try withExtendedLifetime((context, objects)) {
      try CaseReport(
        seconds: (end - start).seconds,
        rows: checksum.rows,
        checksum: checksum.value,
        details: ["open and fetch": (fetched - start).seconds]
      ).print()
    }
  }
}

/// A to-do, as the command heartwood-coredata rewrites it: `@NSManaged var memo: String` has become accessors.
final class Item: NSManagedObject {
  var done: Bool { managedValue(forKey: "done") }
  var memo: String { managedValue(forKey: "memo") }
  var sortOrder: Int32 { managedValue(forKey: "sortOrder") }
  var creationDate: Date { managedValue(forKey: "creationDate") }
  var recordID: UUID { managedValue(forKey: "recordID") }

  static func context(of path: String) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    let options: [String: Any] = [NSSQLitePragmasOption: ["cache_size": "-1000000"]]
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType,
      configurationName: nil,
      at: URL(fileURLWithPath: path),
      options: options
    )
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func model() -> NSManagedObjectModel {
    let (item, list) = (NSEntityDescription(), NSEntityDescription())
    (item.name, list.name) = ("Item", "List")
    item.managedObjectClassName = NSStringFromClass(Item.self)
    let (owner, items) = (NSRelationshipDescription(), NSRelationshipDescription())
    (owner.name, owner.destinationEntity, owner.inverseRelationship, owner.maxCount) = ("list", list, items, 1)
    (items.name, items.destinationEntity, items.inverseRelationship) = ("items", item, owner)
    item.properties = [
      attribute("done", .booleanAttributeType, required: false),
      attribute("sortOrder", .integer32AttributeType, required: 0),
      attribute("creationDate", .dateAttributeType), owner, attribute("memo", .stringAttributeType),
      attribute("recordID", .UUIDAttributeType),
    ]
    list.properties = [attribute("name", .stringAttributeType), items]
    let model = NSManagedObjectModel()
    model.entities = [item, list]
    return model
  }

  private static func attribute(_ name: String, _ type: NSAttributeType, required value: Any? = nil)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = value == nil
    attribute.defaultValue = value
    return attribute
  }
}
