import Foundation
import Heartwood
import Testing

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
        .attribute(AttributeDescription(name: "title", type: .string, preservesValueInHistoryOnDeletion: true)),
        .attribute("price", .decimal, optional: true),
        .attribute("cover", .binary, optional: true),
        .toOne("author", "Author", inverse: "books")
      ),
    ])
  }

  /// Writes the library as `bare/NAME`, alone in its folder.
  static func write(alone name: String, in folder: WorkFolder) throws {
    try write(to: folder.path("library.heartwood"))
    try FileManager.default.createDirectory(at: folder.path("bare"), withIntermediateDirectories: true)
    #expect(try folder.heartwood("convert", "library.heartwood", "bare/\(name)", "--verify").status == 0)
  }

  /// An author with two books, and a book without an author.
  static func write(to url: URL, tracksHistory: Bool = false) throws {
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try model())
    var options = StoreOptions()
    if tracksHistory { options[.tracksPersistentHistory] = true }
    try coordinator.addPersistentStore(at: url, options: options)
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

  /// The store with a history of three transactions: the insertions, a new title by "editor", and a deletion by "editor".
  static func writeHistory(to url: URL) throws {
    try write(to: url, tracksHistory: true)
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try model())
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    try coordinator.addPersistentStore(at: url, options: options)
    let context = ManagedObjectContext(coordinator)
    context.transactionAuthor = "editor"
    context.name = "main"
    let books = try context.fetch(entityName: "Book")
    try books[1].setPropertyValue(.string("Two"), forKey: "title")
    try context.save()
    context.delete(books[2])
    try context.save()
  }

  /// A store of one entity with a history of one transaction.
  static func writeNotes(to url: URL) throws {
    let model = try ManagedObjectModel(entities: [.entity("Note", .attribute("text", .string, optional: true))])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    try coordinator.addPersistentStore(at: url, options: options)
    let context = ManagedObjectContext(coordinator)
    _ = try context.insert(entityName: "Note")
    try context.save()
  }
}
