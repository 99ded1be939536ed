import Foundation
@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// What Xcode compiles mapping models to, in the form that a file of a public repository has.
@Suite struct CompiledMappingModelTests {
  private static func model(_ text: String) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Note",
        .attribute(text, .string, optional: true),
        .toOne("folder", "Folder", inverse: "notes", optional: true)
      ), .entity("Folder", .toMany("notes", "Note", inverse: "folder")),
    ])
  }

  /// The archive of a mapping of notes, whose text has another name, and of their folders.
  private struct Archive {
    var writer = KeyedArchiveWriter()

    private mutating func expression(
      _ name: String,
      _ ancestors: [String] = ["NSExpression"],
      _ members: [String: ArchiveValue]
    ) -> ArchiveValue {
      let type =
        ancestors.count == 1
        ? ArchivedClass(name, ancestors[0]) : ArchivedClass(name, ancestors[0], ancestors[ancestors.count - 1])
      return writer.object(type, members)
    }

    private mutating func variable(_ name: String) -> ArchiveValue {
      let text = writer.text(name)
      return expression(
        "NSVariableExpression",
        ["NSExpression"],
        ["NSVariable": text, "NSExpressionType": .integer(2)]
      )
    }

    private mutating func constant(_ text: String) -> ArchiveValue {
      let value = writer.text(text)
      return expression("NSConstantValueExpression", ["NSExpression"], ["NSConstantValue": value])
    }

    mutating func keyPath(_ base: String, _ path: String) -> ArchiveValue {
      let specifier = expression("NSKeyPathSpecifierExpression", ["NSExpression"], ["NSKeyPath": writer.text(path)])
      let members = [
        "NSOperand": variable(base), "NSSelectorName": writer.text("valueForKeyPath:"),
        "NSArguments": writer.list(.mutableArray, [specifier]),
      ]
      return expression("NSKeyPathExpression", ["NSFunctionExpression", "NSExpression"], members)
    }

    mutating func call(_ name: String, _ arguments: [ArchiveValue]) -> ArchiveValue {
      let members = [
        "NSOperand": variable("manager"), "NSSelectorName": writer.text(name),
        "NSArguments": writer.list(.array, arguments),
      ]
      return expression("NSFunctionExpression", ["NSExpression"], members)
    }

    mutating func fetch(_ entity: String, _ predicate: String) -> ArchiveValue {
      let arguments = [constant(entity), constant(predicate)]
      let request = call("fetchRequestForSourceEntityNamed:predicateString:", arguments)
      let context = keyPath("manager", "sourceContext")
      return expression(
        "NSFetchRequestExpression",
        ["NSExpression"],
        ["NSFRExpression": request, "NSMOCExpression": context, "NSCountOnlyFlag": .boolean(false)]
      )
    }

    mutating func constantText(_ text: String) -> ArchiveValue { constant(text) }

    mutating func property(_ name: String, _ expression: ArchiveValue) -> ArchiveValue {
      let text = writer.text(name)
      return writer.object(
        ArchivedClass("NSPropertyMapping"),
        [
          "NSDestinationPropertyName": text, "NSValueExpression": expression, "NSUserInfo": .nothing,
          "NSPropertyTransforms": .nothing,
        ]
      )
    }

    mutating func entity(
      _ name: String,
      from old: ManagedObjectModel,
      to new: ManagedObjectModel,
      fetch: ArchiveValue,
      attributes: [ArchiveValue] = [],
      relationships: [ArchiveValue] = [],
      others: [String: ArchiveValue] = [:]
    ) throws -> ArchiveValue {
      let hashes = try [old, new].map { try #require($0.entity(named: name)).versionHash }
      let members: [String: ArchiveValue] = [
        "NSMappingName": writer.text("\(name)To\(name)"), "NSMappingType": .integer(5),
        "NSSourceEntityName": writer.text(name), "NSDestinationEntityName": writer.text(name),
        "NSSourceEntityVersionHash": writer.value(.data(hashes[0])),
        "NSDestinationEntityVersionHash": writer.value(.data(hashes[1])), "NSSourceExpression": fetch,
        "NSEntityMigrationPolicyClassName": .nothing, "NSAttributeMappings": writer.list(.array, attributes),
        "NSRelationshipMappings": writer.list(.array, relationships), "NSUserInfo": .nothing,
      ]
      return writer.object(ArchivedClass("NSEntityMapping"), members.merging(others) { $1 })
    }

    mutating func bytes(_ entities: [ArchiveValue]) -> [UInt8] {
      let list = writer.list(.array, entities)
      let root = writer.object(ArchivedClass("NSMappingModel"), ["NSEntityMappings": list])
      return writer.bytes(root: root)
    }
  }

  private static func bytes(
    _ predicate: String = "TRUEPREDICATE",
    others: [String: ArchiveValue] = [:]
  ) throws -> [UInt8] {
    let (old, new) = (try model("text"), try model("memo"))
    var archive = Archive()
    let attribute = archive.property("memo", archive.keyPath("source", "text"))
    let arguments = [archive.constantText("FolderToFolder"), archive.keyPath("source", "folder")]
    let call = archive.call("destinationInstancesForEntityMappingNamed:sourceInstances:", arguments)
    let note = try archive.entity(
      "Note",
      from: old,
      to: new,
      fetch: archive.fetch("Note", predicate),
      attributes: [attribute],
      relationships: [archive.property("folder", call)],
      others: others
    )
    let folder = try archive.entity(
      "Folder",
      from: old,
      to: new,
      fetch: archive.fetch("Folder", "TRUEPREDICATE"),
      relationships: [archive.property("notes", .nothing)]
    )
    return archive.bytes([note, folder])
  }

  private func file(_ bytes: [UInt8], _ folder: ScratchFolder) throws -> MappingModelFile {
    let url = folder.url.appending(path: "Notes.cdm")
    try Data(bytes).write(to: url)
    return try MappingModelFile(contentsOf: url)
  }

  @Test func allThatItSaysIsRead() throws {
    let folder = try ScratchFolder()
    let file = try file(try Self.bytes(#"text BEGINSWITH "A""#), folder)
    #expect(file.notes == [])
    let (old, new) = (try Self.model("text"), try Self.model("memo"))
    let mapping = try file.mappingModel(forSourceModel: old, destinationModel: new)
    #expect(mapping.entityMappings.map(\.name) == ["NoteToNote", "FolderToFolder"])
    let note = mapping.entityMappings[0]
    #expect(note.mappingType == .transform)
    #expect(note.sourcePredicate.map { "\($0)" } == #"text BEGINSWITH "A""#)
    #expect(note.attributeMappings == [PropertyMapping(name: "memo", valueExpression: .source("text"))])
    #expect(
      note.relationshipMappings.map(\.valueExpression)
        == [.destinationInstances(forEntityMappingNamed: "FolderToFolder", sourceInstances: "folder")]
    )
    // The compiler has filled in all that there is to be.
    #expect(mapping.entityMappings[1].relationshipMappings == [PropertyMapping(name: "notes")])
    #expect(mapping.leads(from: old, to: new))
  }

  @Test func itIsOfTheVersionsWhoseHashesItHas() throws {
    let folder = try ScratchFolder()
    let file = try file(try Self.bytes(), folder)
    let (old, new) = (try Self.model("text"), try Self.model("memo"))
    let error = #expect(throws: ModelFileError.self) {
      try file.mappingModel(forSourceModel: new, destinationModel: new)
    }
    #expect(
      error?.message.contains("the source entity Note is of another version") == true,
      "\(String(describing: error))"
    )
    _ = try file.mappingModel(forSourceModel: old, destinationModel: new)
  }

  @Test func whatIsNotUnderstoodIsNamed() throws {
    let folder = try ScratchFolder()
    let cases: [(others: [String: ArchiveValue], note: String)] = [
      (["NSMappingType": .integer(9)], "NoteToNote: the mapping type 9 is not known"),
      (["NSOther": .integer(1)], "NoteToNote: the value “NSOther” is not known"),
      (
        ["NSSourceExpression": .integer(1)],
        "NoteToNote: the source expression, by which it fetches its records, is not understood"
      ),
    ]
    for (others, note) in cases {
      let file = try file(try Self.bytes(others: others), folder)
      #expect(file.notes == [note])
      let error = #expect(throws: ModelFileError.self) {
        try file.mappingModel(forSourceModel: Self.model("text"), destinationModel: Self.model("memo"))
      }
      #expect(error?.message.contains(note) == true)
    }
  }

  @Test func aDamagedOneIsAnError() throws {
    let folder = try ScratchFolder()
    let whole = try Self.bytes()
    for length in stride(from: 0, to: whole.count, by: 7) {
      #expect(throws: ModelFileError.self) { try file(Array(whole.prefix(length)), folder) }
    }
    var generator = SeededGenerator(seed: 27)
    for _ in 0..<300 {
      var bytes = whole
      let place = Int.random(in: bytes.indices, using: &generator)
      bytes[place] = UInt8.random(in: 0...255, using: &generator)
      do {
        _ = try file(bytes, folder)
      } catch let error as ModelFileError {
        #expect(error.file.hasSuffix("Notes.cdm"))
      }
    }
  }

  @Test func oneBesideAModelIsFollowedUnlessItsSourceIsThere() throws {
    let folder = try ScratchFolder()
    let bundle = folder.url.appending(path: "Notes.xcdatamodeld")
    for (name, text) in [("Notes", "text"), ("Notes 2", "memo")] {
      let version = bundle.appending(path: "\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      let contents = """
        <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Note">
        <attribute name="\(text)" optional="YES" attributeType="String"/>
        <relationship name="folder" optional="YES" maxCount="1" destinationEntity="Folder" inverseName="notes" inverseEntity="Folder"/>
        </entity><entity name="Folder">
        <relationship name="notes" optional="YES" toMany="YES" destinationEntity="Note" inverseName="folder" inverseEntity="Note"/>
        </entity></model>
        """
      try Data(contents.utf8).write(to: version.appending(path: "contents"))
    }
    let compiled = folder.url.appending(path: "NotesToNotes2.cdm")
    var options = StoreOptions()
    try options.setMigrations(fromModelAt: bundle)
    #expect(options[.mappingModels].isEmpty)
    // One of another model, by its hashes, is of no concern.
    try Data(try Self.bytes()).write(to: compiled)
    let models = options[.olderModels]
    let isOfThese = try models.last?.entityVersionHashesByName == Self.model("memo").entityVersionHashesByName
    try options.setMigrations(fromModelAt: bundle)
    #expect(options[.mappingModels].count == (isOfThese ? 1 : 0))
    let source = folder.url.appending(path: "NotesToNotes2.xcmappingmodel")
    try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
    let missing = #expect(throws: ModelFileError.self) { try options.setMigrations(fromModelAt: bundle) }
    #expect(missing?.file.contains("NotesToNotes2.xcmappingmodel") == true)
  }
}
