import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting

/// A store of a random model that goes through random versions of it, all of which follows from a seed.
struct MigrationTrialRun {
  let type: StoreType
  private let folder: ScratchFolder
  private var editor: ModelEditor
  private var lastTag: Int64 = 0
  /// How many versions the store came to, and how many refused it.
  private(set) var counts = (migrated: 0, refused: 0)

  init(_ type: StoreType, seed: UInt64) throws {
    self.type = type
    folder = try ScratchFolder()
    editor = ModelEditor(SeededGenerator(seed: seed), isTable: type == .csv, isDatabase: type == .sqlite)
  }

  /// A text file tells the names of its columns; without them all that has as many would fit.
  private var options: StoreOptions {
    var options = StoreOptions()
    options[.allowsMigrationLoss] = true
    var dialect = CSVStore.Dialect()
    dialect.hasHeader = true
    if type == .csv { options[.csvLayout] = CSVStore.Layout(dialect: dialect) }
    return options
  }

  private var url: URL { folder.url.appending(path: "store") }

  /// Goes through some versions.
  ///
  /// - Throws: ``Mismatch``, or what should not be thrown.
  mutating func run(versionCount: Int) throws {
    try fill(try context(editor.draft, options))
    for _ in 0..<versionCount {
      let kept = editor.draft
      try editor.makeVersion()
      do {
        if try !migrate() { editor.draft = kept }
      } catch {
        let edits = editor.edits.joined(separator: ", ")
        throw Mismatch("\(error)\nold:\n\(editor.former)\nnew, \(edits):\n\(editor.draft)")
      }
    }
  }

  private func context(_ draft: ModelDraft, _ options: StoreOptions) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try draft.model(), registry: Self.registry)
    try coordinator.addPersistentStore(type: type, at: url, options: options)
    return ManagedObjectContext(coordinator)
  }

  private static let registry = StoreRegistry.trial

  /// What the file has, opened as it is.
  private func graph(_ draft: ModelDraft) throws -> TaggedGraph {
    let context = try context(draft, options)
    defer { context.persistentStoreCoordinator.close() }
    return try TaggedGraph(context, draft)
  }
}

extension StoreRegistry {
  /// The stores that ship.
  fileprivate static let trial: StoreRegistry = {
    do {
      return try StoreRegistry([
        BinaryStore.self, CSVStore.self, XMLStore.self, PropertyListStore.self, CoreDataBinaryStore.self,
        InMemoryStore.self, SQLiteStore.self,
      ])
    } catch {
      preconditionFailure("\(error)")
    }
  }()
}

// MARK: Migrating

extension MigrationTrialRun {
  /// Whether the store has come to the new version, as it should, or has been refused, as it should.
  private mutating func migrate() throws -> Bool {
    let (old, new) = (editor.former, editor.draft)
    let before = try graph(old)
    let expected = ExpectedMigration(of: before, from: old, to: new)
    var options = options
    options[.shouldMigrateStoreAutomatically] = true
    if type == .csv { options[.olderModels] = [try old.model()] }
    if editor.chance(3) { options[.migratesInStore] = false }
    let resolves = editor.chance(2)
    if resolves {
      options[.migrationResolutions] = MigrationResolutions(severalObjects: .keepFirst, unfitValues: .useDefault)
    }
    if let code = refusal(expected, resolves) {
      try expectRefusal(code, options, before)
      counts.refused += 1
      return false
    }
    try foresee(options)
    let context = try context(new, options)
    try expected.check(try TaggedGraph(context, new))
    try expectSound(context)
    context.persistentStoreCoordinator.close()
    try expected.check(try graph(new))
    counts.migrated += 1
    try fill(try self.context(new, self.options))
    return true
  }

  /// Why the store has to stay as it is; nil where it need not.
  private func refusal(_ expected: ExpectedMigration, _ resolves: Bool) -> PersistenceError.Code? {
    if editor.obstacle != nil { return .mappingModelMissing }
    let isUnclear = !expected.narrowed.isEmpty || expected.unfitCount > 0
    return (isUnclear && !resolves) || expected.missingCount > 0 ? .migrationFailed : nil
  }

  private func expectRefusal(_ code: PersistenceError.Code, _ options: StoreOptions, _ before: TaggedGraph) throws {
    let files = try folder.files()
    do {
      _ = try context(editor.draft, options)
      throw Mismatch("the migration is done, and should be refused: \(code), \(editor.obstacle ?? "records")")
    } catch let error as PersistenceError where error.code == code {
      try require(try folder.files(), equals: files, "the folder after a refusal")
      try require(try graph(editor.former), equals: before, "the graph after a refusal")
    }
  }

  /// A dry run tells what will be, and changes nothing.
  private func foresee(_ options: StoreOptions) throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try editor.draft.model(),
      registry: Self.registry
    )
    let files = try folder.files()
    let report = try coordinator.migration(ofStoreAt: url, type: type, options: options)?.dryRun()
    try require(report?.obstacles ?? [], equals: [], "what a dry run finds in the way")
    try require(try folder.files(), equals: files, "the folder after a dry run")
  }

  private func expectSound(_ context: ManagedObjectContext) throws {
    for store in context.persistentStoreCoordinator.persistentStores {
      let findings = try ContentsValidation.findings(in: try store.engine.contents(), limit: 3)
      if !findings.isEmpty { throw Mismatch("the store is not sound: \(findings)") }
    }
  }
}

// MARK: Objects

extension MigrationTrialRun {
  /// Adds some objects and changes others.
  private mutating func fill(_ context: ManagedObjectContext) throws {
    let draft = editor.draft
    var objects: [(entity: Int, object: ManagedObject)] = []
    for entity in draft.entities where !entity.isAbstract {
      objects += try context.fetchMembers(entity.name).map { (entity.id, $0) }
      // A store that was never saved has no file.
      for _ in 0..<editor.number((objects.isEmpty ? 1 : 0)...4) {
        let object = try context.insert(entityName: entity.name)
        lastTag += 1
        try object.setPropertyValue(.integer(lastTag), forKey: ModelDraft.tag)
        objects.append((entity.id, object))
      }
    }
    for (entity, object) in objects where object.isInserted || editor.chance(3) {
      for property in draft.properties(of: entity) { try set(property, of: object, objects) }
    }
    // What is led to without an inverse stays: the links would lead nowhere.
    let oneWay = draft.links.filter { $0.link.inverse == nil }.map(\.link.destination)
    for (entity, object) in objects where editor.chance(9) {
      if !oneWay.contains(where: { draft.isKind(entity, of: $0) }) { context.delete(object) }
    }
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  private mutating func set(
    _ property: ModelDraft.Property,
    of object: ManagedObject,
    _ objects: [(entity: Int, object: ManagedObject)]
  ) throws {
    switch property.kind {
    case .attribute(let attribute):
      let isNull = attribute.isOptional && editor.chance(4)
      try object.setPropertyValue(isNull ? .null : editor.value(of: attribute.type), forKey: property.name)
    case .link(let link):
      guard editor.chance(2) else { return }
      let targets = objects.filter { editor.draft.isKind($0.entity, of: link.destination) }.map(\.object)
        .shuffled(using: &editor.generator)
      // A database knows one owner of each object only.
      let isShared = link.inverse == nil && link.isToMany
      let ids = (isShared ? targets.filter { free($0, property, object, objects) } : targets)
        .prefix(editor.number(0...3)).map(\.objectID)
      let one = ids.first.map(PropertyValue.toOne) ?? .null
      try object.setPropertyValue(link.isToMany ? .toMany(ids) : one, forKey: property.name)
    }
  }

  /// Whether no other object leads to one by a relationship without an inverse.
  private func free(
    _ target: ManagedObject,
    _ property: ModelDraft.Property,
    _ owner: ManagedObject,
    _ objects: [(entity: Int, object: ManagedObject)]
  ) -> Bool {
    !objects.contains { other in
      guard other.object !== owner,
        let others = try? other.object.value(forKey: property.name) as? [ManagedObject],
        editor.draft.properties(of: other.entity).contains(where: { $0.id == property.id })
      else { return false }
      return others.contains { $0 === target }
    }
  }
}
