import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting
import TestSupport
import Testing

@Suite("Compiled models, and those of Xcode 3")
struct CompiledModelTests {
  @Test("A compiled model is read, in either form of property list")
  func compiled() throws {
    let folder = try ScratchFolder()
    let (builder, root) = CompiledModelFixture.archive()
    let forms = [Data(builder.xml(root: root).utf8), try builder.binary(root: root)]
    for data in forms {
      let file = try DataModelFile(contentsOf: folder.write(data, to: "M.mom"))
      #expect(file.model == (try CompiledModelFixture.model()))
      #expect(file.notes.isEmpty)
    }
  }

  @Test("The current version of a compiled bundle is found")
  func bundle() throws {
    let folder = try ScratchFolder()
    let (builder, root) = CompiledModelFixture.archive()
    for name in ["A", "B"] { try folder.write(builder.xml(root: root), to: "M.momd/\(name).mom") }
    let list = "<plist><dict><key>NSManagedObjectModel_CurrentVersionName</key><string>B</string></dict></plist>"
    try folder.write(list, to: "M.momd/VersionInfo.plist")
    let bundle = folder.url.appending(path: "M.momd")
    #expect(try DataModelFile.currentVersion(at: bundle) == "B")
    #expect(try DataModelFile(contentsOf: bundle).url.lastPathComponent == "B.mom")
    #expect(try DataModelFile(contentsOf: bundle, version: "A").url.lastPathComponent == "A.mom")
  }

  @Test("A compiled model becomes a source that says the same")
  func source() throws {
    let folder = try ScratchFolder()
    let (builder, root) = CompiledModelFixture.archive()
    let file = try DataModelFile(contentsOf: folder.write(builder.xml(root: root), to: "M.mom"))
    let source = try folder.write(file.contents(), to: "M.xcdatamodel/contents")
    #expect(try ManagedObjectModel(contentsOf: source) == file.model)
  }

  @Test("A model of Xcode 3 is read")
  func legacy() throws {
    let folder = try ScratchFolder()
    let (builder, root) = LegacyModelFixture.archive()
    let file = try folder.write(try builder.binary(root: root), to: "M.xcdatamodel/elements")
    let model = try ManagedObjectModel(contentsOf: file.deletingLastPathComponent())
    #expect(model == (try LegacyModelFixture.model()))
  }

  @Test(
    "What is no archive of a model is refused",
    arguments: [
      ("", "neither a binary property list"),
      ("bplist00", "too short"),
      ("<plist><dict/></plist>", "not a keyed archive"),
      ("<plist><string/></plist>", "not a keyed archive"),
      ("<plist><integer>x</integer></plist>", "The text of “integer” is not a valid value"),
      ("<plist><what/></plist>", "not a value of a property list"),
      (String(repeating: "<plist>", count: 50) + "<array>", "neither a binary property list"),
      (
        "<plist>" + String(repeating: "<array>", count: 40) + String(repeating: "</array>", count: 40) + "</plist>",
        "nested too deep"
      ),
    ]
  )
  func refused(_ text: String, _ message: String) throws {
    let folder = try ScratchFolder()
    let file = try folder.write(text, to: "M.mom")
    let error = #expect(throws: ModelFileError.self) { try DataModelFile(contentsOf: file) }
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test("An archive of something else is refused")
  func otherArchive() throws {
    let folder = try ScratchFolder()
    let builder = ArchiveBuilder()
    let root = builder.array([])
    for name in ["M.mom", "elements"] {
      let file = try folder.write(builder.xml(root: root), to: name)
      let error = #expect(throws: ModelFileError.self) { try DataModelFile(contentsOf: file) }
      #expect(error?.message.contains("does not contain a model") == true)
    }
  }

  @Test("The indexes of models from before fetch indexes are read")
  func oldIndexes() throws {
    let folder = try ScratchFolder()
    let builder = ArchiveBuilder()
    func attribute(_ isIndexed: Bool) -> Int {
      builder.object("NSAttributeDescription", ["NSAttributeType": .integer(700), "NSIsIndexed": .flag(isIndexed)])
    }
    let properties = builder.dictionary(["name": attribute(true), "city": attribute(false)])
    let compound = builder.array([builder.array([builder.text("city"), builder.text("name")])])
    let entity = builder.object(
      "NSEntityDescription",
      ["NSProperties": .reference(properties), "NSCompoundIndexes": .reference(compound)]
    )
    let root = builder.object(
      "NSManagedObjectModel",
      ["NSEntities": .reference(builder.dictionary(["A": entity]))]
    )
    let model = try DataModelFile(contentsOf: folder.write(builder.xml(root: root), to: "M.mom")).model
    let indexes = try #require(model.entity(named: "A")).fetchIndexes
    #expect(indexes.map { $0.elements.map(\.propertyName) } == [["name"], ["city", "name"]])
  }

  @Test(
    "A predicate with a constant of a class that is not known is noted",
    arguments: [("NSConstantValueExpression", "NSConstantValue"), ("NSAggregateExpression", "NSCollection")]
  )
  func unknownConstants(_ className: String, _ key: String) throws {
    let builder = ArchiveBuilder()
    let constant = builder.object(className, [key: .reference(builder.object("NSColor", ["red": .real(1)]))])
    let predicate = builder.object(
      "NSComparisonPredicate",
      [
        "NSLeftExpression": .reference(builder.object("NSSelfExpression", [:])),
        "NSRightExpression": .reference(constant),
        "NSPredicateOperator": .reference(builder.object("NSPredicateOperator", ["NSOperatorType": .integer(4)])),
      ]
    )
    let file = try file(fetchingWhere: predicate, builder)
    #expect(
      file.notes.map(\.message) == [
        "The fetch request “r” is not represented in the model: its predicate is not known."
      ]
    )
    // Without its predicate it would find all.
    #expect(file.model.fetchRequestTemplates.isEmpty)
  }

  @Test("Operators that archives have as functions are read")
  func operators() throws {
    let builder = ArchiveBuilder()
    let arguments = builder.array(
      ["a", "b"].map { name in
        let path = builder.object("NSKeyPathSpecifierExpression", ["NSKeyPath": .reference(builder.text(name))])
        return builder.object(
          "NSKeyPathExpression",
          [
            "NSOperand": .reference(builder.object("NSSelfExpression", [:])),
            "NSArguments": .reference(builder.array([path])),
          ]
        )
      }
    )
    let sum = builder.object(
      "NSFunctionExpression",
      ["NSSelectorName": .reference(builder.text("add:to:")), "NSArguments": .reference(arguments)]
    )
    let one = builder.object("NSConstantValueExpression", ["NSConstantValue": .integer(1)])
    let predicate = builder.object(
      "NSComparisonPredicate",
      [
        "NSLeftExpression": .reference(sum), "NSRightExpression": .reference(one),
        "NSPredicateOperator": .reference(builder.object("NSPredicateOperator", ["NSOperatorType": .integer(4)])),
      ]
    )
    let request = try #require(try file(fetchingWhere: predicate, builder).model.fetchRequestTemplates.first)
    #expect(request.predicate?.description == "a + b == 1")
  }

  /// The file of a model with an entity and a fetch request for it.
  private func file(fetchingWhere predicate: Int, _ builder: ArchiveBuilder) throws -> DataModelFile {
    let entity = builder.object(
      "NSEntityDescription",
      ["NSEntityName": .reference(builder.text("A")), "NSProperties": .reference(builder.dictionary([:]))]
    )
    let request = builder.object(
      "NSFetchRequest",
      ["NSEntity": .reference(entity), "NSPredicate": .reference(predicate)]
    )
    let root = builder.object(
      "NSManagedObjectModel",
      [
        "NSEntities": .reference(builder.dictionary(["A": entity])),
        "NSFetchRequestTemplates": .reference(builder.dictionary(["r": request])),
      ]
    )
    let folder = try ScratchFolder()
    return try withExtendedLifetime(folder) {
      try DataModelFile(contentsOf: folder.write(builder.xml(root: root), to: "M.mom"))
    }
  }

  @Test("Objects that lead to themselves, and to each other many times, come to an end")
  func circles() throws {
    let folder = try ScratchFolder()
    let builder = ArchiveBuilder()
    let predicate = builder.reserve()
    _ = builder.object(
      "NSCompoundPredicate",
      ["NSCompoundPredicateType": .integer(1), "NSSubpredicates": .reference(builder.array([predicate, predicate]))],
      at: predicate
    )
    let entity = builder.reserve()
    _ = builder.object(
      "NSEntityDescription",
      ["NSSuperentity": .reference(entity), "NSProperties": .reference(builder.dictionary([:]))],
      at: entity
    )
    let request = builder.object(
      "NSFetchRequest",
      ["NSEntity": .reference(entity), "NSPredicate": .reference(predicate)]
    )
    let root = builder.object(
      "NSManagedObjectModel",
      [
        "NSEntities": .reference(builder.dictionary(["A": entity])),
        "NSFetchRequestTemplates": .reference(builder.dictionary(["r": request])),
      ]
    )
    let file = try folder.write(builder.xml(root: root), to: "M.mom")
    #expect(throws: ModelFileError.self) { try DataModelFile(contentsOf: file) }
  }

  @Test("Changed bytes give a model or an error, never a trap")
  func mutated() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let folder = try ScratchFolder()
    for (builder, root) in [CompiledModelFixture.archive(), LegacyModelFixture.archive()] {
      for data in [Data(builder.xml(root: root).utf8), try builder.binary(root: root)] {
        for name in ["M.mom", "elements"] {
          for _ in 0..<250 {
            let file = try folder.write(generator.mutated(data), to: name)
            do throws(ModelFileError) { _ = try DataModelFile(contentsOf: file) } catch {
              #expect(!error.message.isEmpty, "seed \(seed)")
            }
          }
        }
      }
    }
  }
}
