import Heartwood

/// A way of reading from a store, and its results.
///
/// If a later step depends on what was read, the scenario uses methods that throw. Otherwise, it uses getters, which
/// note what cannot be read.
struct ReadingScenario: Sendable {
  let name: String
  /// Performs the scenario, and returns the results in words.
  let play: @Sendable (ReadingTrial) throws -> [String]

  static let all = looking + changing + following + asAWhole
}

// MARK: Looking

extension ReadingScenario {
  private static let looking: [ReadingScenario] = [
    ReadingScenario(name: "a fault") { trial in
      let context = trial.makeContext()
      let ids = try context.fetchObjectIDs(FetchRequest<ManagedObject>(entityName: "Book"))
      return ids.map { context.object(with: $0) }.sortedNames
    },
    ReadingScenario(name: "a to-one relationship") { trial in
      let book = try trial.makeContext().find("Book", "1")
      return [book[ReadingModel.shelf], book[ReadingModel.reader]].compactMap(\.self).sortedNames
    },
    ReadingScenario(name: "a to-many relationship") { trial in
      try trial.makeContext().find("Shelf", "A")[ReadingModel.books].sortedNames
    },
    ReadingScenario(name: "prefetching") { trial in
      var request = FetchRequest<ManagedObject>(entityName: "Shelf", where: ReadingModel.name == "A")
      request.relationshipKeyPathsForPrefetching = ["books.reader"]
      let books = try trial.makeContext().fetch(request).flatMap { $0[ReadingModel.books] }
      return books.sortedNames + books.compactMap { $0[ReadingModel.reader] }.sortedNames
    },
    ReadingScenario(name: "a fetch over relationships") { trial in
      let context = trial.makeContext()
      try context.find("Shelf", "A")[ReadingModel.name] = "C"
      let request = FetchRequest<ManagedObject>(
        entityName: "Book",
        where: try FetchPredicate(format: "shelf.name == 'C'"),
        sortedBy: [FetchSortDescriptor("name")]
      )
      return try context.fetch(request).sortedNames + ["\(try context.count(for: request))"]
    },
    ReadingScenario(name: "groups") { trial in
      let context = trial.makeContext()
      try context.find("Book", "4")[ReadingModel.name] = "5"
      var request = FetchRequest<ManagedObject>(entityName: "Book")
      request.propertiesToFetch = ["shelf.name", .count()]
      request.propertiesToGroupBy = ["shelf.name"]
      return try context.fetchRows(request).map { "\($0.values)" }.sorted()
    },
    ReadingScenario(name: "pinned contexts") { trial in
      let context = trial.makeContext()
      try context.setQueryGeneration(from: .current)
      try trial.letOthers { try $0.find("Shelf", "A")[ReadingModel.name] = "C" }
      let pinned = try context.fetch(entityName: "Shelf").sortedNames
      context.refreshAllObjects()
      return pinned + (try context.fetch(entityName: "Shelf").sortedNames)
    },
  ]
}

// MARK: Changing

extension ReadingScenario {
  private static let changing: [ReadingScenario] = [
    ReadingScenario(name: "the upkeep of inverses") { trial in
      let context = trial.makeContext()
      let book = try context.find("Book", "4")
      try context.find("Shelf", "A")[ReadingModel.books] = [book]
      try context.save()
      return []
    },
    ReadingScenario(name: "delete rules") { trial in
      let context = trial.makeContext()
      context.delete(try context.find("Shelf", "A"))
      try context.save()
      return []
    },
    ReadingScenario(name: "validation") { trial in
      let context = trial.makeContext()
      context.delete(try context.find("Reader", "Ann"))
      do {
        try context.save()
      } catch let error as PersistenceError where error.code == .validationFailed {
        return error.context.validationFaults.map { "\($0.kind) by \($0.relatedObjectIDs.count)" }
      }
      return ["not denied"]
    },
    ReadingScenario(name: "values that must be unique") { trial in
      let context = trial.makeContext()
      let other = try context.insert(entityName: "Reader")
      other[ReadingModel.name] = "Ann"
      do {
        try context.save()
      } catch let error as PersistenceError where error.code == .constraintConflict {
        return error.context.constraintConflicts.map { "\($0.constraint)" }
      }
      return ["two of one name"]
    },
    ReadingScenario(name: "undo") { trial in
      let context = trial.makeContext()
      context.undoManager = GraphUndoManager()
      let shelf = try context.find("Shelf", "A")
      context.processPendingChanges()
      context.delete(shelf)
      context.undo()
      context.redo()
      try context.save()
      try trial.noteState()
      context.undo()
      try context.save()
      return try context.find("Shelf", "A")[ReadingModel.books].sortedNames
    },
    ReadingScenario(name: "derived attributes") { trial in
      let context = trial.makeContext()
      try context.find("Shelf", "A")[ReadingModel.name] = "C"
      try context.save()
      return []
    },
    ReadingScenario(name: "child contexts") { trial in
      let context = trial.makeContext()
      let child = trial.makeChild(of: context)
      let shelf = try child.find("Shelf", "A")
      shelf[ReadingModel.name] = "C"
      shelf[ReadingModel.books] = [try child.find("Book", "4")]
      try child.save()
      try context.save()
      return try child.find("Shelf", "C")[ReadingModel.books].sortedNames
    },
  ]
}

// MARK: Following others

extension ReadingScenario {
  private static let following: [ReadingScenario] = [
    ReadingScenario(name: "a refresh") { trial in
      let context = trial.makeContext()
      let shelf = try context.find("Shelf", "A")
      shelf[ReadingModel.books] = [try context.find("Book", "1")]
      try trial.letOthers { others in
        try others.find("Book", "4")[ReadingModel.shelf] = try others.find("Shelf", "A")
        try others.find("Shelf", "A")[ReadingModel.name] = "C"
      }
      // The fetch notices what others have saved.
      _ = try context.fetch(entityName: "Reader")
      context.refresh(shelf, mergeChanges: true)
      // The books have changed, too: their shelves are found by the derived name.
      context.refreshAllObjects()
      try context.save()
      return []
    },
    ReadingScenario(name: "a merge by a policy") { trial in
      let context = trial.makeContext()
      context.mergePolicy = .mergeByPropertyObjectTrump
      let shelf = try context.find("Shelf", "A")
      shelf[ReadingModel.name] = "C"
      shelf[ReadingModel.books] = [try context.find("Book", "1")]
      try trial.letOthers { others in
        try others.find("Book", "4")[ReadingModel.shelf] = try others.find("Shelf", "A")
        try others.find("Shelf", "A")[ReadingModel.name] = "D"
      }
      try context.save()
      return []
    },
    ReadingScenario(name: "the merge of a notice") { trial in
      let (context, other) = (trial.makeContext(), trial.makeContext())
      let shelf = try context.find("Shelf", "A")
      _ = try shelf.read(ReadingModel.name)
      var changes: ContextChanges?
      let observation = other.observe(.didSave) { changes = $0 }
      try withExtendedLifetime(observation) {
        try other.find("Shelf", "A")[ReadingModel.name] = "C"
        try other.save()
      }
      try trial.noteState()
      if let changes { context.mergeChanges(from: changes) }
      return [shelf].sortedNames
    },
    ReadingScenario(name: "live results") { trial in
      let context = trial.makeContext()
      let request = FetchRequest<ManagedObject>(
        entityName: "Book",
        where: try FetchPredicate(format: "shelf.name == 'A'"),
        sortedBy: [FetchSortDescriptor("name")]
      )
      let controller = FetchedResultsController(request, in: context)
      try controller.performFetch()
      let before = controller.fetchedObjects?.sortedNames ?? []
      try context.find("Book", "4")[ReadingModel.shelf] = try context.find("Shelf", "A")
      context.processPendingChanges()
      if let error = controller.updateError { throw error }
      return before + (controller.fetchedObjects?.sortedNames ?? [])
    },
  ]
}

// MARK: Stores as a whole

extension ReadingScenario {
  private static let asAWhole: [ReadingScenario] = [
    ReadingScenario(name: "a batch") { trial in
      let condition = try FetchPredicate(format: "shelf.name == 'A'")
      let update = BatchUpdateRequest(entityName: "Book", where: condition, propertiesToUpdate: ["name": "new"])
      let updated = try trial.coordinator.execute(update).count
      try trial.noteState()
      let deleted = try trial.coordinator.execute(
        BatchDeleteRequest(entityName: "Shelf", where: ReadingModel.name == "A")
      )
      return ["\(updated)", "\(deleted.count)"]
    },
    ReadingScenario(name: "a conversion") { trial in
      let (coordinator, store) = (trial.coordinator, trial.store)
      let converted = try coordinator.convert(store, to: nil, type: .inMemory)
      return try trial.bench.openStore(converted, in: coordinator).allNames()
    },
  ]
}

// MARK: ReadingModel

/// Shelves with books and their readers, for every kind of read.
enum ReadingModel {
  static let name = AttributeKey<String?>("name")
  static let books = ToManyKey<ManagedObject>("books")
  static let shelf = ToOneKey<ManagedObject>("shelf")
  static let reader = ToOneKey<ManagedObject>("reader")

  /// The number of entities.
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

  /// Saves two shelves with three books and one, and two readers. Ann reads two books.
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
  /// Returns the object of an entity with a name.
  func find(_ entity: String, _ name: String) throws -> ManagedObject {
    let request = FetchRequest<ManagedObject>(entityName: entity, where: ReadingModel.name == name)
    return try unwrap(try fetch(request).first, "the \(entity) \(name)")
  }
}

extension Sequence<ManagedObject> {
  /// The names of the objects, sorted.
  var sortedNames: [String] { map { $0[ReadingModel.name] ?? "-" }.sorted() }
}
