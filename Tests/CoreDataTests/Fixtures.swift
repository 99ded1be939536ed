import CoreData
import Testing

// The classes are written as heartwood-coredata rewrites them: `@NSManaged var memo: String?` has become accessors.

final class ToDo: NSManagedObject {
  var memo: String? {
    get { managedValue(forKey: "memo") }
    set { setManagedValue(newValue, forKey: "memo") }
  }
  var done: Bool {
    get { managedValue(forKey: "done") }
    set { setManagedValue(newValue, forKey: "done") }
  }
  var sortOrder: Int16 {
    get { managedValue(forKey: "sortOrder") }
    set { setManagedValue(newValue, forKey: "sortOrder") }
  }
  var price: NSDecimalNumber? {
    get { managedValue(forKey: "price") }
    set { setManagedValue(newValue, forKey: "price") }
  }
  var identifier: UUID? {
    get { managedValue(forKey: "identifier") }
    set { setManagedValue(newValue, forKey: "identifier") }
  }
  var tags: [String]? {
    get { managedValue(forKey: "tags") }
    set { setManagedValue(newValue, forKey: "tags") }
  }
  var kind: Kind {
    get { managedValue(forKey: "kind") }
    set { setManagedValue(newValue, forKey: "kind") }
  }
  var list: List? {
    get { managedValue(forKey: "list") }
    set { setManagedValue(newValue, forKey: "list") }
  }

  enum Kind: Int16 {
    case usual, urgent
  }

  /// What happened to the object, in order.
  var events: [String] = []

  override func awakeFromInsert() {
    super.awakeFromInsert()
    identifier = UUID()
    events.append("awakeFromInsert")
  }

  override func awakeFromFetch() {
    super.awakeFromFetch()
    events.append("awakeFromFetch")
  }

  override func willSave() {
    super.willSave()
    events.append("willSave")
  }

  override func didSave() {
    super.didSave()
    events.append("didSave")
  }

  override func prepareForDeletion() {
    super.prepareForDeletion()
    events.append("prepareForDeletion")
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    if memo == "forbidden" { throw NSError(domain: "ToDo", code: 42) }
  }
}

final class List: NSManagedObject {
  private(set) var wasMadeByOwnInitializer = false

  required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    wasMadeByOwnInitializer = true
  }

  var title: String {
    get { managedValue(forKey: "title") }
    set { setManagedValue(newValue, forKey: "title") }
  }
  var items: Set<ToDo> {
    get { managedValue(forKey: "items") }
    set { setManagedValue(newValue, forKey: "items") }
  }

  func addToItems(_ value: ToDo) { addManagedValues(value, forKey: "items") }
  func removeFromItems(_ value: ToDo) { removeManagedValues(value, forKey: "items") }
}

// MARK: Model

enum Models {
  static func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    attribute.defaultValue = value
    return attribute
  }

  /// Lists with items, in the manner of programs that describe their model in code.
  static func toDos() -> NSManagedObjectModel {
    let toDo = NSEntityDescription()
    toDo.name = "ToDo"
    toDo.managedObjectClassName = NSStringFromClass(ToDo.self)
    let list = NSEntityDescription()
    list.name = "List"
    // Found by its bare name.
    list.managedObjectClassName = "List"

    let items = NSRelationshipDescription()
    let owner = NSRelationshipDescription()
    items.name = "items"
    items.destinationEntity = toDo
    items.deleteRule = .cascadeDeleteRule
    items.inverseRelationship = owner
    owner.name = "list"
    owner.destinationEntity = list
    owner.maxCount = 1
    owner.inverseRelationship = items

    toDo.properties = [
      attribute("memo", .stringAttributeType),
      attribute("done", .booleanAttributeType, optional: false, default: false),
      attribute("sortOrder", .integer16AttributeType, optional: false, default: 0),
      attribute("price", .decimalAttributeType),
      attribute("identifier", .UUIDAttributeType),
      attribute("created", .dateAttributeType),
      attribute("tags", .transformableAttributeType),
      attribute("kind", .integer16AttributeType, optional: false, default: 0),
      owner,
    ]
    list.properties = [attribute("title", .stringAttributeType, optional: false), items]
    let model = NSManagedObjectModel()
    model.entities = [toDo, list]
    return model
  }
}

// MARK: Stack

/// A coordinator with one store, and a context.
final class Stack: Sendable {
  let folder: URL
  let url: URL
  let type: String
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext

  init(_ type: String, model: NSManagedObjectModel = Models.toDos()) throws {
    self.type = type
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("CoreDataTests-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appendingPathComponent("store")
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: type,
      configurationName: nil,
      at: type == NSInMemoryStoreType ? nil : url,
      options: nil
    )
    context = Stack.context(of: coordinator)
  }

  deinit {
    // try?: a folder that is left is harmless.
    try? FileManager.default.removeItem(at: folder)
  }

  static func context(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Changes the memo of the first to-do in a context, and saves.
  static func changeFirst(in context: NSManagedObjectContext, to memo: String) throws {
    try context.performAndWait {
      try #require(try context.fetch(toDoRequest()).first).memo = memo
      try context.save()
    }
  }

  @discardableResult
  func insert(_ memo: String?, _ sortOrder: Int16 = 0, done: Bool = false) -> ToDo {
    let toDo = ToDo(context: context)
    toDo.memo = memo
    toDo.sortOrder = sortOrder
    toDo.done = done
    return toDo
  }

  static let types = [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType, NSInMemoryStoreType]
  static let fileTypes = [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType]
}

func toDoRequest() -> NSFetchRequest<ToDo> { NSFetchRequest<ToDo>(entityName: "ToDo") }
