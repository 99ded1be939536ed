import Foundation
import GRDB
import Heartwood
import Testing

@Suite struct InfoTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
  }

  @Test(arguments: [("todo.csv", "CSV"), ("todo.heartwood", "Binary")])
  func jsonHasItsMembersInOrder(_ name: String, _ type: String) throws {
    let outcome = try heartwood("info", name, "--json")
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 1)
    let info = try #require(try outcome.json() as? [String: Any])
    #expect(info["type"] as? String == type)
    #expect(info["identifier"] as? String == "D35CF030-1EC1-4667-9666-70C8247A1010")
    #expect(info["size"] as? Int == (try folder.data(name).count))
    let entities = try #require(info["entities"] as? [[String: Any]])
    #expect(entities.map { $0["name"] as? String } == ["ToDo"])
    #expect(entities.map { $0["count"] as? Int } == [6])
    #expect(info["metadata"] is [String: Any])
    let keys = [
      "type", "identifier", "formatVersion", "size", "entities", "strayRows", "history", "foreignTransactions",
      "metadata",
    ]
    #expect(Set(info.keys) == Set(keys))
    let places = try keys.map { try #require(outcome.text.range(of: "\"\($0)\":")).lowerBound }
    #expect(places == places.sorted())
  }

  @Test func formatVersionIsNullWhereThereIsNone() throws {
    #expect(try heartwood("info", "todo.csv", "--json").text.contains("\"formatVersion\":null"))
    #expect(try heartwood("info", "todo.heartwood", "--json").text.contains("\"formatVersion\":\"3\""))
  }

  @Test func textTellsTheSame() throws {
    let lines = try heartwood("info", "todo.heartwood").lines
    #expect(lines.contains("identifier      D35CF030-1EC1-4667-9666-70C8247A1010"))
    #expect(lines.contains("entity ToDo     6 records"))
    #expect(lines.contains("model           in the file"))
  }

  @Test func largeDataBesideTheFileCount() throws {
    var photo = AttributeDescription(name: "photo", type: .binary)
    photo.allowsExternalBinaryDataStorage = true
    let model = try ManagedObjectModel(entities: [.entity("Photo", .attribute(photo))])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(at: folder.path("photos.heartwood"))
    let context = ManagedObjectContext(coordinator)
    try context.insert(entityName: "Photo").setPropertyValue(.binary(Data(count: 200_000)), forKey: "photo")
    try context.save()
    let converted = try heartwood("convert", "photos.heartwood", "photos.sqlite")
    #expect(converted.status == 0, "\(converted.errors)")
    let size = try folder.data("photos.sqlite").count + 200_000
    #expect(folder.exists(".photos_SUPPORT"))
    #expect(converted.text.hasPrefix("photos.sqlite: 1 record, \(size) bytes, "), "\(converted.text)")
    let info = try #require(try heartwood("info", "photos.sqlite", "--json").json() as? [String: Any])
    #expect(info["size"] as? Int == size)
  }

  /// What others have saved is in the log as long as they have the file open.
  @Test func theLogBesideTheFileCounts() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite", "--quiet").status == 0)
    let pool = try DatabasePool(path: folder.path("todo.sqlite").path)
    try pool.write { db in try db.execute(sql: "UPDATE ZTODO SET ZMEMO = 'x'") }
    let logSize = try folder.data("todo.sqlite-wal").count
    #expect(logSize > 0)
    let info = try #require(try heartwood("info", "todo.sqlite", "--json").json() as? [String: Any])
    #expect(info["size"] as? Int == (try folder.data("todo.sqlite").count) + logSize)
    try pool.close()
  }

  /// Old versions of Core Data kept no model in their files, and what is in the cache is not always there.
  @Test func aFileWithoutModelTellsWhatItHas() throws {
    try FileManager.default.createDirectory(at: folder.path("bare"), withIntermediateDirectories: false)
    #expect(try heartwood("convert", "todo.csv", "bare/todo.sqlite", "--quiet").status == 0)
    let queue = try DatabaseQueue(path: folder.path("bare/todo.sqlite").path)
    try queue.write { db in
      let list = try #require(try Data.fetchOne(db, sql: "SELECT Z_PLIST FROM Z_METADATA"))
      var members = try #require(try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any])
      #expect(members.removeValue(forKey: "HeartwoodModel") != nil)
      let rest = try PropertyListSerialization.data(fromPropertyList: members, format: .binary, options: 0)
      try db.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [rest])
      try db.execute(sql: "DELETE FROM Z_MODELCACHE")
      try db.execute(sql: "INSERT INTO Z_PRIMARYKEY VALUES (7, 'Lost', 0, 0), (16001, 'CHANGE', 0, 0)")
      try db.execute(sql: "INSERT INTO ZTODO (Z_PK, Z_ENT, Z_OPT) VALUES (98, 7, 1), (99, 42, 1)")
    }
    try queue.close()
    let outcome = try heartwood("info", "bare/todo.sqlite")
    #expect(outcome.status == 0)
    #expect(outcome.errors.hasPrefix("heartwood: note: bare/todo.sqlite: The file does not hold its model, "))
    for line in ["ToDo     6 records", "Lost     its table is missing"] {
      #expect(outcome.lines.contains("entity \(line)"), "\(outcome.text)")
    }
    #expect(outcome.text.contains("D35CF030-1EC1-4667-9666-70C8247A1010") && outcome.text.contains("hash of ToDo"))
    #expect(outcome.lines.contains { $0.hasPrefix("of no entity") && $0.hasSuffix("  1 row") })
    let info = try #require(try heartwood("info", "bare/todo.sqlite", "--json").json() as? [String: Any])
    let entities = try #require(info["entities"] as? [[String: Any]])
    #expect(entities.map { $0["name"] as? String } == ["ToDo", "Lost"])
    #expect(entities.map { $0["count"] as? Int } == [6, nil])
    #expect(info["strayRows"] as? Int == 1)
    let withModel = try heartwood("info", "bare/todo.sqlite", "--model", "ToDo.xcdatamodeld")
    #expect(withModel.lines.contains { $0.hasPrefix("of no entity") && $0.hasSuffix("  1 row") })
    #expect(
      withModel.status == 0 && withModel.lines.contains { $0.hasPrefix("model ") && $0.contains("ToDo.xcdatamodeld") }
    )
    #expect(try heartwood("dump", "bare/todo.sqlite").status == 1)
  }

  @Test func aModelInTheFileThatCannotBeReadIsNotNeeded() throws {
    try FileManager.default.createDirectory(at: folder.path("bare"), withIntermediateDirectories: false)
    #expect(try heartwood("convert", "todo.csv", "bare/todo.sqlite", "--quiet").status == 0)
    let queue = try DatabaseQueue(path: folder.path("bare/todo.sqlite").path)
    try queue.write { db in
      let list = try #require(try Data.fetchOne(db, sql: "SELECT Z_PLIST FROM Z_METADATA"))
      var members = try #require(try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any])
      members["HeartwoodModel"] = nil
      let rest = try PropertyListSerialization.data(fromPropertyList: members, format: .binary, options: 0)
      try db.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [rest])
      try db.execute(sql: "UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'")
    }
    try queue.close()
    let info = try heartwood("info", "bare/todo.sqlite")
    #expect(info.status == 0 && info.lines.contains("entity ToDo     6 records"), "\(info.errors)")
    #expect(info.errors.contains("Z_MODELCACHE") && info.errors.contains("What is in the file itself follows."))
    let dump = try heartwood("dump", "bare/todo.sqlite")
    #expect(dump.status == 1 && dump.errors.contains("Z_MODELCACHE"), "\(dump.errors)")
    #expect(try heartwood("dump", "bare/todo.sqlite", "--model", "ToDo.xcdatamodeld").lines.count == 6)
    let old = try heartwood("convert", "bare/todo.sqlite", "old.heartwood", "--model", "ToDo.xcdatamodeld", "--quiet")
    #expect(old.status == 0, "\(old.errors)")
    try folder.addVersions()
    let line = "heartwood migrate bare/todo.sqlite --to-model ToDo.xcdatamodeld --output new.heartwood --dry-run"
    let migrated = try heartwood.shell("\(line) --from-model ToDo.xcdatamodeld/ToDo.xcdatamodel")
    #expect(migrated.status == 0 && migrated.text.contains("6 records"), "\(migrated.errors)")
  }

  private static let commands = [
    "info", "verify", "model show", "convert --to Binary", "migrate --to-model ToDo.xcdatamodeld", "dump --type CSV",
    "info todo.csv --model",
  ]

  private func expectRefusal(of name: String, _ message: String) throws {
    for command in Self.commands {
      let destination = command.hasPrefix("convert") ? " out" : ""
      let outcome = try heartwood.shell("heartwood \(command) \(name)\(destination)")
      #expect(outcome.status == 1)
      #expect(outcome.errors == "heartwood: error: \(name): \(message)\n")
    }
    #expect(!folder.exists("out"))
  }

  @Test(arguments: ["enc.encrypted", "enc.heartwood", "enc.csv", "enc.sqlite", "enc"])
  func anEncryptedStoreIsToldAsSuch(_ name: String) throws {
    let sample = Repository.root.appending(path: "Formats/Encrypted/samples/version-1-key.encrypted")
    try FileManager.default.copyItem(at: sample, to: folder.path(name))
    try expectRefusal(
      of: name,
      "This is an encrypted store of Heartwood, for which the tool has no key. Convert it in the application, or decrypt it with "
        + "Formats/Encrypted/reader.py."
    )
  }

  @Test(arguments: [
    ("packed.csv.gz", "gunzip --keep packed.csv.gz"), ("packed.heartwood", "gunzip < packed.heartwood > NAME"),
  ])
  func aCompressedStoreIsToldAsSuch(_ name: String, _ command: String) throws {
    try Data([0x1F, 0x8B, 0x08, 0x00]).write(to: folder.path(name))
    try expectRefusal(of: name, "The file is compressed with gzip. Unpack it first: \(command)")
  }

  @Test(arguments: ["store.paw", "store.heartwood"])
  func aDamagedBinaryStoreOfCoreDatasIsToldAsSuch(_ name: String) throws {
    try (Data("CoreData".utf8) + Data(count: 56)).write(to: folder.path(name))
    for command in ["info \(name)", "model show \(name)"] {
      let outcome = try heartwood.shell("heartwood \(command)")
      #expect(outcome.status == 1)
      let text = name == "store.paw" ? "The header is of version 0; 1 is known." : "whose type is CoreDataBinary"
      #expect(outcome.errors.contains(text), "\(outcome.errors)")
    }
  }

  @Test(arguments: ["nix.heartwood", "empty.csv", "ToDo.xcdatamodeld", "short.heartwood"])
  func whatIsNoStoreIsRefused(_ name: String) throws {
    try folder.write("", to: "empty.csv")
    try folder.data("todo.heartwood").prefix(100).write(to: folder.path("short.heartwood"))
    let outcome = try heartwood("info", name, "--json")
    #expect(outcome.status == 1)
    #expect(outcome.text == "")
    #expect(outcome.errors.hasPrefix("heartwood: error: \(name): "))
  }
}
