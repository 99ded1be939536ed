import HeartwoodGraph
import HeartwoodTesting

/// Does random things to the objects of a library.
struct RandomLibrary {
  let context: ManagedObjectContext
  var generator: SeededGenerator

  init(_ context: ManagedObjectContext, seed: UInt64) {
    self.context = context
    self.generator = SeededGenerator(seed: seed)
  }

  /// Does one thing: inserts, deletes, or changes an attribute or a relationship of an object.
  mutating func step() throws {
    switch Int.random(in: 0..<12, using: &generator) {
    case 0, 1: try insert()
    case 2: try delete()
    case 3: try one(of: Person.self)?.name = text()
    case 4: try one(of: Person.self)?.spouse = try some(of: Person.self, atMost: 1).first
    case 5: try one(of: Person.self)?.friends = try some(of: Person.self, atMost: 4)
    case 6: try one(of: Person.self)?.students = try some(of: Person.self, atMost: 4)
    case 7: try one(of: Shelf.self)?.books = try some(of: Book.self, atMost: 5)
    case 8: try one(of: Book.self)?.shelf = try some(of: Shelf.self, atMost: 1).first
    case 9: try one(of: Book.self)?.tags = try some(of: Tag.self, atMost: 3)
    case 10: try one(of: Person.self)?.passport = try some(of: Passport.self, atMost: 1).first
    default: try one(of: Person.self)?.books = try some(of: Book.self, atMost: 3)
    }
  }

  private mutating func insert() throws {
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: try context.insert(Shelf.self).books = try some(of: Book.self, atMost: 4)
    case 1: try context.insert(Tag.self).name = text()
    case 2: try context.insert(Passport.self).owner = try some(of: Person.self, atMost: 1).first
    case 3: try context.insert(Book.self).title = text()
    default: _ = try context.person(text())
    }
  }

  /// Deletes an object, unless that would be denied when it is saved.
  private mutating func delete() throws {
    switch Int.random(in: 0..<5, using: &generator) {
    case 0:
      if let shelf = try one(of: Shelf.self), shelf.books.allSatisfy(\.readers.isEmpty) { context.delete(shelf) }
    case 1:
      if let book = try one(of: Book.self), book.readers.isEmpty { context.delete(book) }
    case 2:
      // Its books would go on leading to it.
      if let tag = try one(of: Tag.self) {
        tag.books = []
        context.delete(tag)
      }
    case 3: try one(of: Passport.self).map(context.delete)
    default: try one(of: Person.self).map(context.delete)
    }
  }

  mutating func one<Object: ManagedObject>(of objectClass: Object.Type) throws -> Object? {
    try context.fetch(objectClass).randomElement(using: &generator)
  }

  private mutating func some<Object: ManagedObject>(of objectClass: Object.Type, atMost limit: Int) throws -> [Object] {
    let objects = try context.fetch(objectClass).shuffled(using: &generator)
    return Array(objects.prefix(Int.random(in: 0...limit, using: &generator)))
  }

  mutating func text() -> String { "\(UInt16.random(in: 0...999, using: &generator))" }
}
