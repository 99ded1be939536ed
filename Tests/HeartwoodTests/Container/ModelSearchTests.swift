import Foundation
import Heartwood
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct ModelSearchTests {
  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  private func bundle(_ name: String, attribute: String, in place: String = "") throws -> URL {
    let bundle = folder.url.appending(path: name)
    try Notes.writeBundle("Notes", in: bundle.appending(path: place), attributes: attribute)
    return bundle
  }

  private func attribute(_ model: ManagedObjectModel) -> String? { model.entities.first?.attributes.first?.name }

  @Test func theFirstBundleThatHasTheModelIsTaken() throws {
    let bundles = try [
      folder.url.appending(path: "empty"), bundle("one", attribute: "first"), bundle("two", attribute: "second"),
    ]
    #expect(attribute(try ManagedObjectModel(named: "Notes", in: bundles)) == "first")
    #expect(attribute(try ManagedObjectModel(named: "Notes", in: bundles.reversed())) == "second")
  }

  @Test(arguments: ["", "Contents/Resources", "Resources"])
  func theResourcesOfABundleAreLookedThrough(_ place: String) throws {
    let bundle = try bundle("Some.bundle", attribute: "found", in: place)
    #expect(attribute(try ManagedObjectModel(named: "Notes", in: [bundle])) == "found")
  }

  @Test func aModelOfOurOwnFormIsRead() throws {
    let model = try Notes.model(.attribute("own", .string, optional: true))
    try model.encoded().write(to: folder.url.appending(path: "Notes.json"))
    #expect(try ManagedObjectModel(named: "Notes", in: [folder.url]) == model)
    _ = try bundle("", attribute: "xcode")
    #expect(attribute(try ManagedObjectModel(named: "Notes", in: [folder.url])) == "xcode")
  }

  @Test func aModelOfOurOwnFormWithUnknownMembersIsRefused() throws {
    let text = #"{"format":1,"entities":[{"name":"Note","attributes":[]}],"version":"2"}"#
    try Data(text.utf8).write(to: folder.url.appending(path: "Notes.json"))
    let error = #expect(throws: PersistenceError.self) { try ManagedObjectModel(named: "Notes", in: [folder.url]) }
    #expect(error?.code == .modelMissing)
    #expect(error?.message.contains("not known: version, entities[0 “Note”].attributes") == true)
    #expect(error?.context.path?.hasSuffix("Notes.json") == true)
  }

  @Test func theErrorTellsWhereWasLooked() throws {
    let folders = ["one", "two"].map { folder.url.appending(path: $0) }
    let error = #expect(throws: PersistenceError.self) { try ManagedObjectModel(named: "Notes", in: folders) }
    #expect(error?.code == .modelMissing)
    for folder in folders { #expect(error?.description.contains(folder.path) == true) }
    let byItself = #expect(throws: PersistenceError.self) { try PersistentContainer(name: "NoSuchModel") }
    #expect(byItself?.code == .modelMissing)
    #expect(byItself?.message.contains("NoSuchModel") == true)
  }

  @Test func theResourcesOfTheProgramAreFound() throws {
    let model = try ManagedObjectModel(named: "Notes")
    #expect(model.entities.map(\.name) == ["Note"])
  }

  @Test(arguments: ["Broken.json", "Broken.mom"])
  func aModelThatCannotBeReadIsAnErrorWithItsPath(_ name: String) throws {
    try Data("{".utf8).write(to: folder.url.appending(path: name))
    let error = #expect(throws: PersistenceError.self) {
      try PersistentContainer(name: "Broken", modelIn: [folder.url])
    }
    #expect(error?.code == .modelMissing)
    #expect(error?.context.path == folder.path(name))
    #expect(error?.underlyingError != nil)
  }
}
