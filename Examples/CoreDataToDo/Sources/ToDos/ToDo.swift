// Written as in its years.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

import CoreData

@objc(ToDo)
public class ToDo: NSManagedObject {
  @NSManaged public var memo: String?
  @NSManaged public var done: NSNumber
  @NSManaged public var sortOrder: NSNumber
  @NSManaged public var creationDate: Date?
  @NSManaged public var uuid: String

  override public func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID().uuidString, forKey: #keyPath(ToDo.uuid))
    setPrimitiveValue(Date(), forKey: #keyPath(ToDo.creationDate))
  }
}

extension ToDo {
  public class func insert(_ memo: String, into context: NSManagedObjectContext) -> ToDo {
    let count = ToDo.count(in: context)
    let toDo = NSEntityDescription.insertNewObject(forEntityName: "ToDo", into: context) as! ToDo
    toDo.memo = memo
    toDo.sortOrder = NSNumber(value: count)
    return toDo
  }

  public class func all(in context: NSManagedObjectContext) throws -> [ToDo] {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "ToDo")
    request.sortDescriptors = [NSSortDescriptor(key: #keyPath(ToDo.sortOrder), ascending: true)]
    return try context.fetch(request) as! [ToDo]
  }

  public class func open(in context: NSManagedObjectContext, containing text: String) throws -> [ToDo] {
    let request = ToDo.fetchRequest() as! NSFetchRequest<ToDo>
    request.predicate = NSPredicate(
      format: "%K == NO AND %K CONTAINS[cd] %@",
      #keyPath(ToDo.done),
      #keyPath(ToDo.memo),
      text
    )
    return try context.fetch(request)
  }

  class func count(in context: NSManagedObjectContext) -> Int {
    return (try? context.count(for: NSFetchRequest<ToDo>(entityName: "ToDo"))) ?? 0
  }
}
