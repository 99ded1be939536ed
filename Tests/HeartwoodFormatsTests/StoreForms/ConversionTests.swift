import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

/// Every type of store to every other, with several entities, inheritance and relationships of all kinds.
@Suite struct ConversionTests {
  struct Pair: Sendable, CustomTestStringConvertible {
    let from: Form
    let to: Form

    var testDescription: String { "\(from.name) to \(to.name)" }
  }

  struct Form: Sendable {
    let name: String
    let storeClass: any AtomicStoreClass.Type
    var options = StoreOptions()

    func file(_ model: ManagedObjectModel) -> StoreFile { StoreFile(storeClass, model, options: options) }
  }

  static let forms = [
    Form(name: "Binary", storeClass: BinaryStore.self),
    Form(name: "XML", storeClass: XMLStore.self),
    Form(name: "binary property list", storeClass: PropertyListStore.self),
    Form(name: "XML property list", storeClass: PropertyListStore.self, options: xmlOptions),
    Form(name: "Core Data binary", storeClass: CoreDataBinaryStore.self),
  ]

  static let xmlOptions: StoreOptions = {
    var options = StoreOptions()
    options[.propertyListKind] = .xml
    return options
  }()

  static let pairs = forms.flatMap { from in forms.map { Pair(from: from, to: $0) } }

  @Test(arguments: pairs) func keepsEverything(_ pair: Pair) throws {
    // Through a file once, so that all records are of version 1, as they are behind a conversion.
    let golden = try GoldenSample.contents()
    let plain = StoreFile(XMLStore.self, golden.model)
    try plain.create(golden)
    let original = try plain.open().contents()
    let source = pair.from.file(original.model)
    try source.create(original)
    let target = pair.to.file(original.model)
    try target.create(try source.open().contents())
    var converted = try target.open().contents()
    #expect(ContentsComparison.firstDifference(original, converted) == nil)
    // Not every form keeps it.
    converted.nextReferenceNumber = original.nextReferenceNumber
    let back = pair.from.file(original.model)
    #expect(try back.create(converted) == source.bytes, "there and back gives the same bytes")
  }

  @Test(arguments: forms.dropFirst()) func csvAndBack(_ form: Form) throws {
    let csv = StoreFile(CSVStore.self, try ManagedObjectModel(entities: [CSVModels.everything]))
    try csv.write(try FormatFolder("CSV").bytes("everything.csv"))
    let contents = try csv.open().contents()
    let other = form.file(csv.model)
    try other.create(contents)
    let difference = ContentsComparison.firstDifference(contents, try other.open().contents())
    #expect(difference == nil)
    let back = StoreFile(CSVStore.self, csv.model)
    #expect(try back.create(try other.open().contents()) == csv.bytes)
  }

  @Test(arguments: forms) func recordsOfManyGroups(_ form: Form) throws {
    let entity = EntityDefinition.entity("Number", .attribute("value", .integer32, optional: true))
    let file = form.file(try ManagedObjectModel(entities: [entity]))
    let loader = StoreLoader(setup: file.setup, storeType: .binary)
    let description = try loader.entity(named: "Number")
    for number in 0..<70_000 {
      try loader.addNode(.integer(Int64(number)), to: description) { node in
        if number % 7 != 0 { try node.setValue(.integer(Int64(number * 3)), forKey: "value") }
      }
    }
    let contents = try loader.finish()
    try file.create(contents)
    #expect(ContentsComparison.firstDifference(contents, try file.open().contents()) == nil)
  }
}
