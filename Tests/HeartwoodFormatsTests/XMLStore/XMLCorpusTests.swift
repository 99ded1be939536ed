import Foundation
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

@Suite(
  "XML files that Core Data wrote, from public repositories",
  .enabled(if: ModelCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct XMLCorpusTests {
  private static func files() throws -> [URL] {
    try ModelCorpus.files(named: "Database.xml") + ModelCorpus.files(named: "xcmapping.xml")
  }

  private func opened(_ url: URL) throws -> StoreFile {
    var file = StoreFile(XMLStore.self, try ManagedObjectModel(entities: []))
    try file.write([UInt8](try Data(contentsOf: url)))
    let model = try #require(try XMLStore.inferModel(from: file.input, options: StoreOptions()))
    file.options[.ignoresModelVersion] = true
    let inferred = StoreFile(XMLStore.self, model, options: file.options)
    try inferred.write(file.bytes)
    return inferred
  }

  @Test("They open, and what is saved without a change is the same content")
  func unchanged() throws {
    let files = try Self.files()
    #expect(files.count >= 9)
    for url in files {
      let file = try opened(url)
      let before = try file.text
      let engine = try file.open()
      let contents = try engine.contents()
      #expect(contents.count == before.matches(of: #/<object\ /#).count, "\(url.path)")
      _ = try engine.save(ChangeSet())
      #expect(ContentsComparison.firstDifference(contents, try file.open().contents()) == nil, "\(url.path)")
      #expect(try elements(file.text) == elements(before), "\(url.path)")
    }
  }

  /// The lines of all values of all objects, in any order: their texts must be as Core Data wrote them.
  private func elements(_ text: String) throws -> [String] {
    text.matches(of: /<(attribute|relationship|object) [^>]*>[^<]*/).map {
      String($0.0).trimmingCharacters(in: .whitespacesAndNewlines)
    }.sorted()
  }

  @Test("They become stores of every other type, and come back")
  func conversion() throws {
    for url in try Self.files() {
      let file = try opened(url)
      let contents = try file.open().contents()
      for form in ConversionTests.forms {
        let other = form.file(file.model)
        try other.create(contents)
        #expect(
          ContentsComparison.firstDifference(contents, try other.open().contents()) == nil,
          "\(url.path) \(form.name)"
        )
      }
    }
  }
}
