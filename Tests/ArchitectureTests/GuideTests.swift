import Foundation
import Testing

/// The code of guides is code that is compiled and tested elsewhere.
@Suite struct GuideTests {
  private func text(_ path: String) throws -> String { try SourceTree.text(path) }

  @Test func codeOfTheGuideIsCodeOfTheExample() throws {
    let store = try text("Examples/JSONLines/Sources/JSONLines/JSONLinesStore.swift")
    let example =
      try store + text("Examples/JSONLines/Package.swift")
      + text("Examples/JSONLines/Tests/JSONLinesTests/JSONLinesStoreTests.swift")
      + text("Examples/JSONLines/Tests/JSONLinesTests/JSONLinesConversionTests.swift")
    let blocks = try codeBlocks(of: "Sources/HeartwoodStore/HeartwoodStore.docc/WriteAStore.md")
    #expect(blocks.count == 9)
    for block in blocks { #expect(example.contains(block), "The example has no such code:\n\(block)") }
    // Whoever copies the code from the guide has the whole store.
    let copied = blocks.filter(store.contains).joined(separator: "\n")
    #expect(copied == store)
  }

  @Test func codeOfTheGuideToFastStoresIsCodeOfTheExamples() throws {
    let example =
      try text("Examples/ColumnFile/Sources/ColumnFile/ColumnFileStore.swift")
      + text("Examples/ColumnFile/Sources/ColumnFile/ColumnFile.swift")
      + text("Tests/ConformanceTests/Appending/LedgerStore.swift")
    let blocks = try codeBlocks(of: "Sources/HeartwoodStore/HeartwoodStore.docc/WriteAFastStore.md")
    #expect(blocks.count == 6)
    for block in blocks { #expect(example.contains(block), "The example has no such code:\n\(block)") }
  }

  @Test func codeOfTheGuideToIncrementalStoresIsCodeOfTheExample() throws {
    let example =
      try text("Examples/RecordFolder/Sources/RecordFolder/RecordFolderStore.swift")
      + text("Examples/RecordFolder/Tests/RecordFolderTests/ConformanceTests.swift")
    let blocks = try codeBlocks(of: "Sources/HeartwoodStore/HeartwoodStore.docc/WriteAnIncrementalStore.md")
    #expect(blocks.count == 11)
    for block in blocks { #expect(example.contains(block), "The example has no such code:\n\(block)") }
  }

  @Test(arguments: [
    ("HeartwoodSQLite/HeartwoodSQLite.docc/CoreDataFiles", "HeartwoodSQLiteTests/Files/SQLiteGuideTests", 7),
    ("HeartwoodStore/HeartwoodStore.docc/DoMoreInYourStore", "HeartwoodGraphTests/Support/RecordStore+Answers", 5),
    (
      "HeartwoodPostgreSQL/HeartwoodPostgreSQL.docc/PostgreSQL", "HeartwoodPostgreSQLTests/Store/PostgreSQLStoreTests",
      1
    ),
    ("HeartwoodWrappers/HeartwoodWrappers.docc/StoresAroundStores", "HeartwoodWrappersTests/WrappersGuideTests", 4),
    ("HeartwoodBrowser/HeartwoodBrowser.docc/BrowsingStores", "HeartwoodBrowserTests/EditingSafetyTests", 1),
  ])
  func codeOfTheArticleOfAProductIsTested(_ article: String, _ tests: String, _ count: Int) throws {
    let tested = Self.withoutIndents(try text("Tests/\(tests).swift"))
    let blocks = try codeBlocks(of: "Sources/\(article).md")
    #expect(blocks.count == count)
    for block in blocks {
      #expect(tested.contains(Self.withoutIndents(block)), "The tests have no such code:\n\(block)")
    }
  }

  /// The articles, and the tests that run what they show.
  private static let articles = [
    "ComingFromMagicalRecord": "Conveniences/MagicalRecordGuideTests",
    "Containers": "../HeartwoodTests/Container/ContainersGuideTests",
    "ContextsAndConcurrency": "Concurrency/ContextsGuideTests",
    "DerivedAttributes": "Fetching/FetchingGuideTests",
    "Documents": "Documents/DocumentsGuideTests",
    "FetchingAndPredicates": "Fetching/FetchingGuideTests",
    "FileFormats": "Coordinator/FormatsGuideTests",
    "GettingStarted": "../HeartwoodToolTests/ReadmeExample",
    "Importing": "Importing/ImportingGuideTests",
    "Indexes": "Fetching/FetchingGuideTests",
    "LiveResults": "Fetching/FetchingGuideTests",
    "Migration": "Migration/MigrationGuideTests",
    "Objects": "Object/ObjectsGuideTests",
    "PersistentHistory": "History/HistoryGuideTests",
    "Salvage": "Coordinator/SalvageGuideTests",
    "SavingAndConflicts": "Context/SavingGuideTests",
  ]

  @Test(arguments: articles.sorted { $0.key < $1.key })
  func codeOfAnArticleIsTested(_ article: String, _ tests: String) throws {
    let tested = Self.withoutIndents(try text("Tests/HeartwoodGraphTests/\(tests).swift"))
    let blocks = try codeBlocks(of: "Sources/Heartwood/Heartwood.docc/\(article).md")
    #expect(!blocks.isEmpty)
    for block in blocks {
      #expect(tested.contains(Self.withoutIndents(block)), "The tests have no such code:\n\(block)")
    }
  }

  /// That on macros has a test of its own, and the other shows a part of a package's manifest.
  private static let articlesTestedElsewhere: Set = ["Macros", "GeneratingClasses"]

  @Test func noArticleWithCodeIsLeftOut() throws {
    let folder = "Sources/Heartwood/Heartwood.docc"
    let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.appending(path: folder).path)
    for name in names where name.hasSuffix(".md") {
      let article = String(name.dropLast(".md".count))
      let isTested = Self.articles[article] != nil || Self.articlesTestedElsewhere.contains(article)
      #expect(try isTested || codeBlocks(of: "\(folder)/\(name)").isEmpty, "\(name)")
      // A fence with a tick too few shows its code as text.
      #expect(try text("\(folder)/\(name)").matches(of: /(?m)^``\w*$/).isEmpty, "\(name)")
    }
  }

  /// The lines without the spaces that they begin with.
  private static func withoutIndents(_ code: String) -> String {
    code.split(separator: "\n", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }.joined(separator: "\n")
  }

  @Test func codeOfTheArticleOnMacrosIsTested() throws {
    let tested = Self.withoutIndents(try text("Tests/HeartwoodMacrosTests/MacrosGuideTests.swift"))
    let shown = try codeBlocks(of: "README.md").filter { $0.contains("@Entity") }
    let blocks = try codeBlocks(of: "Sources/Heartwood/Heartwood.docc/Macros.md") + shown
    #expect(blocks.count == 4)
    for block in blocks {
      #expect(tested.contains(Self.withoutIndents(block)), "The tests have no such code:\n\(block)")
    }
  }

  private func codeBlocks(of path: String) throws -> [String] {
    try text(path).components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }
}
