import Foundation
import Heartwood
import TestSupport
import Testing

/// Binary stores of Core Data, on the command line.
@Suite struct CoreDataBinaryTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  /// Makes a file whose model is nowhere: another key stands for the one that it is kept under.
  init() throws {
    folder = try WorkFolder()
    try Library.write(alone: "library.coredata", in: folder)
    let bytes = try folder.data("bare/library.coredata")
    let key = try #require(bytes.firstRange(of: Data("HeartwoodModel".utf8)))
    try bytes.replacing(Data("HeartwoodModel".utf8), with: Data("FormerlyAModel".utf8), maxReplacements: 1)
      .write(to: folder.path("bare/library.paw"))
    try FileManager.default.removeItem(at: folder.path("bare/library.coredata"))
    #expect(!key.isEmpty)
  }

  @Test func aFileWithItsModelIsConvertedThereAndBack() throws {
    #expect(try heartwood("convert", "library.heartwood", "library.coredata", "--verify").status == 0)
    #expect(try heartwood("verify", "library.coredata").text == "ok: 4 records\n")
    #expect(try heartwood("convert", "library.coredata", "back.heartwood", "--verify").status == 0)
    #expect(try heartwood("diff", "library.heartwood", "back.heartwood").status == 0)
    let line = "heartwood edit library.coredata --entity Book --where \"title == ''\" --set title=x"
    #expect(try heartwood.shell(line).status == 0)
    #expect(try heartwood("fetch", "library.coredata", "Book", "--where", "title == 'x'").lines.count == 1)
  }

  @Test func aFileWithoutAModelIsLookedAt() throws {
    let info = try heartwood("info", "bare/library.paw")
    #expect(info.status == 0, "\(info.errors)")
    for text in ["CoreDataBinary", "made of the records", "entity Book", "hash of Author", "1, 134481920"] {
      #expect(info.text.contains(text), "\(info.text)")
    }
    let dump = try heartwood("dump", "bare/library.paw")
    let books = try dump.jsonLines().filter { $0["$entity"] as? String == "Book" }
    #expect(books.contains { $0.values.contains { $0 as? String == "One, \"two\"" } }, "\(dump.text)")
    #expect(books.compactMap { $0["author"] as? String }.count == 2, "\(dump.text)")
    let converted = try heartwood("convert", "bare/library.paw", "out.sqlite", "--verify")
    #expect(converted.status == 0, "\(converted.errors)")
  }

  @Test func aModelIsRecovered() throws {
    let made = try heartwood("recover-model", "bare/library.paw", "Library.json")
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.errors.contains("attribute1"), "\(made.errors)")
    let before = try folder.data("bare/library.paw")
    let dump = try heartwood("dump", "bare/library.paw", "--model", "Library.json")
    #expect(dump.status == 0 && dump.text.contains("attribute1"), "\(dump.errors)")
    let converted = try heartwood("convert", "bare/library.paw", "out.coredata", "--model", "Library.json", "--verify")
    #expect(converted.status == 0, "\(converted.errors)")
    #expect(try heartwood("verify", "out.coredata").text == "ok: 4 records\n")
    let line =
      "heartwood edit bare/library.paw --model Library.json --entity Book --where TRUEPREDICATE --set attribute1=null"
    let refused = try heartwood.shell(line)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("made of the records"), "\(refused.errors)")
    #expect(try folder.data("bare/library.paw") == before)
  }

  @Test(.enabled(if: ModelCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus"))
  func realFilesAreLookedAt() throws {
    for url in try ModelCorpus.files(withSuffix: ".paw") {
      let info = try heartwood("info", url.path)
      #expect(info.status == 0 && info.text.contains("entity LMRequest "), "\(info.errors)")
      #expect(try heartwood("verify", url.path).status == 0, "\(url.path)")
      #expect(try heartwood("convert", url.path, "out.sqlite", "--verify", "--force").status == 0, "\(url.path)")
    }
  }
}
