import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodModelFiles
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

@Suite(
  "Models made of the tables of files that Core Data made",
  .enabled(if: SQLiteCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct ModelRecoveryCorpusTests {
  @Test("All values and links are those of the rows", arguments: SQLiteCorpus.stores)
  func values(_ corpus: SQLiteCorpus.Store) throws {
    let scratch = try ScratchFolder()
    try RecoveredStore(path: try SQLiteCorpus.copy(corpus, to: scratch)).checkAgainstSQL()
  }

  private static let known = SQLiteCorpus.stores.filter { $0.model != nil || $0.modelcache }

  @Test("The model is the real one, as far as the file tells", arguments: known)
  func models(_ corpus: SQLiteCorpus.Store) throws {
    let scratch = try ScratchFolder()
    let path = try SQLiteCorpus.copy(corpus, to: scratch)
    let real = try #require(try SQLiteCorpus.models(corpus, path: path).first)
    let recovered = try SQLiteStore.recoverModel(ofStoreAt: URL(filePath: path))
    let comparison = RecoveryComparison(real, recovered.model)
    #expect(comparison.mistakes == [])
    // Columns without a value, whose names are like no entity's.
    for name in comparison.numbers {
      let note = recovered.notes.first { $0.lowercased().hasPrefix("\(name.lowercased()) may be a relationship") }
      #expect(note != nil, "\(name)")
    }
  }

  @Test("It is written in every form and read again", arguments: known)
  func files(_ corpus: SQLiteCorpus.Store) throws {
    let scratch = try ScratchFolder()
    let path = try SQLiteCorpus.copy(corpus, to: scratch)
    let model = try SQLiteStore.recoverModel(ofStoreAt: URL(filePath: path)).model
    let decoded = try ManagedObjectModel.decoded(from: try model.encoded())
    #expect(decoded == model && decoded.isRecovered)
    let folder = scratch.url.appending(path: "Recovered.xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try model.dataModelContents().write(to: folder.appending(path: "contents"))
    let read = try ManagedObjectModel(contentsOf: folder)
    #expect(read.isRecovered)
    #expect(ModelDifferences(from: model, to: read).changes.filter(\.changesStores) == [])
  }
}

/// Files that are made here, with everything that a schema has a form for.
@Suite struct ModelRecoveryTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(try FeatureModel.model())
  }

  private func object(_ entity: String, _ values: [String: Any], in context: ManagedObjectContext) throws
    -> ManagedObject
  {
    let object = try context.insert(entityName: entity)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  /// Makes a store in which each property has values.
  private func fill() throws {
    let context = try bench.context()
    let people = try (0..<6).map { number in
      try object(
        "Person",
        [
          "name": "p\(number)", "born": Date(timeIntervalSinceReferenceDate: Double(number) + 0.5), "key": UUID(),
          "page": URL(string: "https://example.org/\(number)") as Any, "score": Float(number) / 4,
          "portrait": Data(repeating: 3, count: number.isMultiple(of: 2) ? 200_000 : 20), "thumbnail": Data([9, 8]),
          "colour": Data([1, 2, 3]),
        ],
        in: context
      )
    }
    let tags = try (0..<3).map { try object("Tag", ["name": "t\($0)"], in: context) }
    var media: [ManagedObject] = []
    for number in 0..<9 {
      let entity = ["Album", "Book", "Novel"][number % 3]
      let one = try object(entity, ["title": "m\(number)", "count": number, "label": "l\(number)"], in: context)
      try one.setValue(people[number % 6], forKey: "owner")
      try one.setValue([tags[number % 3], tags[(number + 1) % 3]], forKey: "tags")
      if entity == "Album" { try one.setValue(1.5, forKey: "length") }
      if entity != "Album" { try one.setValue("i\(number)", forKey: "isbn") }
      if entity != "Album" { try one.setValue(Decimal(number), forKey: "price") }
      if entity == "Novel" { try one.setValue(number > 5, forKey: "isTranslated") }
      media.append(one)
    }
    let notes = try (0..<4).map { try object("Note", ["text": "n\($0)"], in: context) }
    try people[0].setValue(Set(notes.prefix(3)), forKey: "notes")
    try people[1].setValue(Set([people[0], people[2]]), forKey: "friends")
    try people[2].setValue(Set([people[3], people[4]]), forKey: "follows")
    try people[5].setValue(media[2], forKey: "favourite")
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  private var path: String { bench.url().path }

  @Test func everyFormOfASchemaIsRead() throws {
    try fill()
    let recovered = try RecoveredStore(path: path)
    #expect(try recovered.checkAgainstSQL() > 100)
    let comparison = RecoveryComparison(bench.model, recovered.model)
    #expect(comparison.mistakes == [] && comparison.numbers == [], "\(recovered.recovered.notes)")
    #expect(comparison.toManyCount > 5 && comparison.toOneCount > 1)
  }

  @Test func whatRowsTellOfAHierarchyIsTaken() throws {
    try fill()
    let model = try RecoveredStore(path: path).model
    func own(_ entity: String) throws -> [String] {
      try #require(model.entity(named: entity)).definition.properties.map(\.name)
    }
    #expect(try own("Album").sorted() == ["label", "length"])
    #expect(try own("Novel") == ["isTranslated"] || own("Novel") == ["istranslated"])
    #expect(try own("Book").contains("isbn"))
    #expect(try #require(model.entity(named: "Book")).definition.uniquenessConstraints == [["isbn"]])
    let person = try #require(model.entity(named: "Person"))
    #expect(person.attributesByName["portrait"]?.allowsExternalBinaryDataStorage == true)
    #expect(person.attributesByName["key"]?.type == .uuid)
    #expect(person.attributesByName["thumbnail"]?.allowsExternalBinaryDataStorage == false)
    #expect(person.relationshipsByName["friends"]?.inverseRelationshipName == "friends")
    #expect(person.relationshipsByName["notes"]?.inverseRelationshipName == nil)
    #expect(person.relationshipsByName["favourite"]?.destinationEntityName == "Media")
    #expect(model.entity(named: "Media")?.relationshipsByName["tags"]?.isOrdered == true)
  }

  /// Neither the records nor the files with large data, which the model may not know, are touched.
  @Test func aFileIsNotWrittenWithARecoveredModel() throws {
    try fill()
    let names = try bench.externalNames()
    #expect(!names.isEmpty)
    let model = try SQLiteStore.recoverModel(ofStoreAt: bench.url()).model
    for ignoresVersion in [false, true] {
      let coordinator = try SQLiteBench.coordinator(model)
      var options = StoreOptions()
      if ignoresVersion { options[.ignoresModelVersion] = true }
      try coordinator.addPersistentStore(type: .sqlite, at: bench.url(), options: options)
      let context = ManagedObjectContext(coordinator)
      let note = try #require(try context.fetch(entityName: "Note").first)
      try note.setValue("changed", forKey: "text")
      let error = try #require(bench.error { try context.save() })
      #expect(error.code == .storeReadOnly)
      #expect(error.problem.contains("recovered"), "\(error)")
      let request = BatchDeleteRequest(entityName: "Note")
      #expect(bench.code { _ = try context.execute(request) } == .storeReadOnly)
      coordinator.close()
    }
    #expect(try bench.externalNames() == names)
    let hashes = try bench.query { try SQLiteMetadata.read(from: $0, path: path).metadata.modelVersionHashes }
    #expect(hashes == bench.model.versionHashes)
    let changed = try bench.query { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE WHERE ZTEXT = 'changed'") }
    #expect(changed == 0)
  }

  /// A new file is of the recovered model, and so may be written with it.
  @Test func aFileThatIsConvertedIsOfTheRecoveredModel() throws {
    try fill()
    let recovered = try RecoveredStore(path: path)
    let url = bench.url("New.sqlite")
    try recovered.coordinator.convert(recovered.store, to: url)
    recovered.coordinator.close()
    let coordinator = try SQLiteBench.coordinator(recovered.model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = ManagedObjectContext(coordinator)
    let note = try #require(try context.fetch(entityName: "Note").first)
    try note.setValue("changed", forKey: "text")
    try context.save()
    coordinator.close()
    #expect(try bench.integrity("New.sqlite") == "ok")
  }

  @Test func anotherFileIsNotOpenedWithIt() throws {
    try fill()
    let other = try SQLiteBench(try ManagedObjectModel(entities: [.entity("Thing", .attribute("name", .string))]))
    try other.makeEmpty()
    let model = try SQLiteStore.recoverModel(ofStoreAt: other.url()).model
    let coordinator = try SQLiteBench.coordinator(model)
    let code = bench.code { try coordinator.addPersistentStore(type: .sqlite, at: bench.url()) }
    #expect(code == .modelIncompatible)
  }

  /// What rows are too few to tell may be taken for another relationship, and is read as SQL has it all the same.
  @Test func modelsAndRecordsAtRandom() throws {
    var counts = (values: 0, stores: 0)
    for seed in SeededGenerator.seeds(usually: 1...40) {
      var versions = RandomVersions(seed: seed)
      guard let model = try? ManagedObjectModel(entities: versions.old) else { continue }
      let bench = try SQLiteBench(model)
      let context = try bench.context()
      try versions.fill(context)
      try context.save()
      context.persistentStoreCoordinator.close()
      let recovered = try RecoveredStore(path: bench.url().path)
      counts.values += try recovered.checkAgainstSQL()
      counts.stores += 1
      let mistakes = RecoveryComparison(model, recovered.model).mistakes.filter { !$0.contains(" leads to ") }
      #expect(mistakes == [], "seed \(seed)")
    }
    #expect(counts.stores == 0 || counts.values > counts.stores)
  }

  // MARK: Files from elsewhere

  private func execute(_ statements: String...) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write { db in for statement in statements { try db.execute(sql: statement) } }
    try queue.close()
  }

  @Test func whatIsNotThereIsLeftOutAndNoted() throws {
    try fill()
    try execute(
      "DROP TABLE ZTAG",
      "ALTER TABLE ZNOTE ADD COLUMN extra VARCHAR",
      "ALTER TABLE ZNOTE ADD COLUMN ZMIXED VARCHAR",
      "UPDATE ZNOTE SET ZMIXED = x'00' WHERE Z_PK = 1",
      "UPDATE ZNOTE SET ZMIXED = 'a' WHERE Z_PK = 2"
    )
    let recovered = try SQLiteStore.recoverModel(ofStoreAt: bench.url())
    #expect(recovered.model.entity(named: "Tag") == nil)
    #expect(recovered.model.entity(named: "Media")?.relationshipsByName["tags"] == nil)
    #expect(recovered.notes.contains { $0.hasPrefix("Tag: the file has no table") }, "\(recovered.notes)")
    #expect(recovered.notes.contains { $0.contains("column extra of ZNOTE") })
    #expect(recovered.notes.contains { $0.hasPrefix("Note.mixed") })
    #expect(recovered.notes.contains { $0.hasPrefix("The table Z_") })
  }

  @Test(arguments: [
    "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 999", "DELETE FROM Z_PRIMARYKEY",
    "UPDATE Z_PRIMARYKEY SET Z_NAME = 'a b'", "UPDATE Z_PRIMARYKEY SET Z_NAME = x'00'",
    "ALTER TABLE ZNOTE ADD COLUMN \"Z1\" INTEGER", "ALTER TABLE ZNOTE ADD COLUMN \"Z 2 x\"\"\" BLOB",
    "ALTER TABLE ZNOTE ADD COLUMN \"Z99999999999999999999_A\" INTEGER", "ALTER TABLE ZNOTE ADD COLUMN Z INTEGER",
    "UPDATE ZPERSON SET ZFAVOURITE = 'no key'", "UPDATE ZNOTE SET Z_ENT = 'x'", "DROP TABLE Z_PRIMARYKEY",
    "UPDATE Z_METADATA SET Z_PLIST = x'00'", "ALTER TABLE ZNOTE ADD COLUMN ZSELF INTEGER",
  ])
  func hostileTablesAreNoTrap(_ statement: String) throws {
    try fill()
    try execute(statement)
    do {
      _ = try RecoveredStore(path: path).store.engine.contents()
    } catch let error as PersistenceError {
      #expect(
        [.fileMalformed, .modelIncompatible, .danglingReference, .entityUnknown].contains(error.code),
        "\(error)"
      )
    }
  }

  @Test func fewDataThatMayBeMarkedAreNoted() throws {
    try fill()
    try execute("ALTER TABLE ZNOTE ADD COLUMN ZDATA BLOB", "UPDATE ZNOTE SET ZDATA = x'0107' WHERE Z_PK < 3")
    let recovered = try SQLiteStore.recoverModel(ofStoreAt: bench.url())
    #expect(recovered.notes.contains { $0.hasPrefix("Note.data: all values begin with the byte 01") })
    try execute("UPDATE ZNOTE SET ZDATA = x'0107'")
    let note = try SQLiteStore.recoverModel(ofStoreAt: bench.url()).model.entity(named: "Note")
    #expect(note?.attributesByName["data"]?.allowsExternalBinaryDataStorage == true)
  }

  /// What is of two kinds of numbers is read by the one that holds both.
  @Test func typesAreThoseOfTheValues() throws {
    try fill()
    try execute(
      "ALTER TABLE ZNOTE ADD COLUMN ZPART INTEGER",
      "UPDATE ZNOTE SET ZPART = Z_PK + 0.5",
      "ALTER TABLE ZNOTE ADD COLUMN ZODD",
      "UPDATE ZNOTE SET ZODD = 'text'",
      "ALTER TABLE ZNOTE ADD COLUMN ZBIG INTEGER",
      "UPDATE ZNOTE SET ZBIG = 9223372036854775807",
      "ALTER TABLE ZNOTE ADD COLUMN ZNONE BLOB"
    )
    let note = try #require(try SQLiteStore.recoverModel(ofStoreAt: bench.url()).model.entity(named: "Note"))
    let types = note.attributesByName.mapValues(\.type)
    #expect(types == ["text": .string, "part": .double, "odd": .string, "big": .integer64, "none": .binary])
    try RecoveredStore(path: path).checkAgainstSQL()
  }
}

extension SQLiteBench {
  /// Makes a store without records.
  fileprivate func makeEmpty() throws { try context().persistentStoreCoordinator.close() }
}

extension ManagedObjectModel {
  fileprivate var versionHashes: [String: Data] {
    Dictionary(entities.map { ($0.name, $0.versionHash) }) { first, _ in first }
  }
}
