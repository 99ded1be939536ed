import Heartwood

/// Shelves with books, and their readers: what is read by every kind of reading.
enum ReadingModel {
  static let name = AttributeKey<String?>("name")
  static let books = ToManyKey<ManagedObject>("books")
  static let shelf = ToOneKey<ManagedObject>("shelf")
  static let reader = ToOneKey<ManagedObject>("reader")

  /// How many entities it has.
  static let entityCount = 3

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Shelf",
        .attribute("name", .string, optional: true),
        .toMany("books", "Book", inverse: "shelf", deleteRule: .cascade)
      ),
      .entity(
        "Book",
        .attribute("name", .string, optional: true),
        .attribute(
          AttributeDescription(
            name: "place",
            type: .string,
            derivationExpression: try FetchExpression(format: "shelf.name")
          )
        ),
        .toOne("shelf", "Shelf", inverse: "books"),
        .toOne("reader", "Reader", inverse: "books")
      ),
      .entity(
        "Reader",
        unique: [["name"]],
        .attribute("name", .string, optional: true),
        .toMany("books", "Book", inverse: "reader", deleteRule: .deny)
      ),
    ])
  }

  /// Saves two shelves, of three books and of one, and two readers, of whom Ann reads two books.
  static func fill(_ open: OpenStore) throws {
    let context = open.makeContext()
    func insert(_ entity: String, _ name: String) throws -> ManagedObject {
      let object = try context.insert(entityName: entity)
      object[Self.name] = name
      return object
    }
    let shelves = try ["A", "B"].map { try insert("Shelf", $0) }
    let ann = try insert("Reader", "Ann")
    _ = try insert("Reader", "Bob")
    for number in 1...4 {
      let book = try insert("Book", "\(number)")
      book[shelf] = shelves[number / 4]
      if number < 3 { book[reader] = ann }
    }
    try context.save()
  }
}

extension ManagedObjectContext {
  /// The object of an entity that has a name.
  func find(_ entity: String, _ name: String) throws -> ManagedObject {
    let request = FetchRequest<ManagedObject>(entityName: entity, where: ReadingModel.name == name)
    return try unwrap(try fetch(request).first, "the \(entity) \(name)")
  }
}

extension Sequence<ManagedObject> {
  /// The names of objects, sorted.
  var sortedNames: [String] { map { $0[ReadingModel.name] ?? "-" }.sorted() }
}
