import HeartwoodGraph
import HeartwoodModel
import Testing

/// A store with a shelf, which several contexts use.
struct ShelfBench {
  let stack: TestStack
  let shelf: ManagedObjectID

  init(_ kind: TestStoreKind) throws {
    stack = try TestStack(kind)
    let context = stack.context()
    let shelf = try context.insert(Shelf.self)
    try context.save()
    self.shelf = shelf.objectID
  }

  func find<Object: ManagedObject>(_ id: ManagedObjectID, _ context: ManagedObjectContext) throws -> Object {
    try #require(try context.existingObject(with: id) as? Object)
  }

  /// Another context puts a book on the shelf.
  func addBook(_ title: String = "book") throws -> ManagedObjectID {
    let context = stack.context()
    let book = try context.book(title, on: try find(shelf, context))
    try context.save()
    return book.objectID
  }

  /// What the shelf leads to in the store.
  func storedBooks() throws -> [ManagedObjectID] {
    let context = stack.context()
    try expectBothEndsAgree(context)
    let shelf: Shelf = try find(shelf, context)
    return try shelf.objectIDs(forRelationshipNamed: "books")
  }
}
