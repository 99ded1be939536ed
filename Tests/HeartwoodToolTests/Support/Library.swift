import Foundation
import Heartwood

/// A store of two entities that relate to each other, made with the library.
enum Library {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Author",
        .attribute("name", .string),
        .toMany("books", "Book", inverse: "author", ordered: true)
      ),
      .entity(
        "Book",
        .attribute("title", .string),
        .attribute("price", .decimal, optional: true),
        .attribute("cover", .binary, optional: true),
        .toOne("author", "Author", inverse: "books")
      ),
    ])
  }

  /// An author with two books, and a book without an author.
  static func write(to url: URL) throws {
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try model())
    try coordinator.addPersistentStore(at: url)
    let context = ManagedObjectContext(coordinator)
    let author = try context.insert(entityName: "Author")
    try author.setPropertyValue(.string("楊\tX"), forKey: "name")
    let titles = ["One, \"two\"", "Zwei", ""]
    let books = try titles.map { title in
      let book = try context.insert(entityName: "Book")
      try book.setPropertyValue(.string(title), forKey: "title")
      return book
    }
    try books[0].setPropertyValue(.decimal(Decimal(sign: .plus, exponent: -2, significand: 1999)), forKey: "price")
    try books[0].setPropertyValue(.binary(Data([0xFF, 0x00])), forKey: "cover")
    for book in books.prefix(2) { try book.setPropertyValue(.toOne(author.objectID), forKey: "author") }
    try context.save()
  }
}
