import Foundation
import Testing

/// The arrows between the modules, as `Documentation/Architecture.md` has them: a module imports those listed for it and no others.
@Suite struct ImportTests {
  /// What each module may import, by the document. The system's own libraries are not in it.
  private static func allowed() throws -> [String: Set<String>] {
    let rows = try SourceTree.table(under: "Who may import whom", in: "Documentation/Architecture.md")
    let pairs = rows.map { row in
      (SourceTree.names(row[0]).first ?? row[0], Set(row.dropFirst().flatMap(SourceTree.names)))
    }
    return try Dictionary(pairs) { _, _ in throw Twice() }
  }

  private struct Twice: Error {}

  /// What comes with the compiler or the system, and everybody may use.
  private static let system: Set<String> = [
    // That of Apple's systems; `Sources/CoreData` is there on the others.
    "CoreData", "CryptoKit", "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Observation",
    "Synchronization",
  ]

  @Test func everyModuleHasItsArrows() throws {
    #expect(try Set(Self.allowed().keys) == Set(SourceTree.modules))
  }

  @Test func noArrowLeadsBack() throws {
    let allowed = try Self.allowed()
    var left = allowed
    // Whoever imports nothing that is left can be built now.
    while let next = left.keys.sorted().first(where: { left[$0, default: []].isDisjoint(with: left.keys) }) {
      left[next] = nil
    }
    #expect(left.isEmpty, "These import each other: \(left.keys.sorted())")
  }

  @Test(arguments: SourceTree.modules)
  func moduleImportsWhatItMay(_ module: String) throws {
    let allowed = try #require(
      Self.allowed()[module],
      "Say in Documentation/Architecture.md what \(module) may import."
    )
    var unused = allowed
    for file in try SourceTree.files(in: "Sources/\(module)") {
      let imported = Set(Self.imports(in: try SourceTree.text(file)))
      let wrong = imported.subtracting(allowed).subtracting(Self.system)
      #expect(wrong.isEmpty, "\(file) must not import \(wrong.sorted())")
      unused.subtract(imported)
      // A macro is named by its module, and imported by nobody.
      unused = try unused.filter { try !SourceTree.text(file).contains("module: \"\($0)\"") }
    }
    #expect(unused.isEmpty, "\(module) imports no \(unused.sorted()): take it out of the table.")
  }

  /// Which Foundation there is is decided at one place.
  @Test func foundationIsImportedThroughItsModule() throws {
    for module in SourceTree.modules where module != "HeartwoodFoundation" {
      for file in try SourceTree.files(in: "Sources/\(module)") {
        let imported = Self.imports(in: try SourceTree.text(file))
        #expect(!imported.contains("FoundationEssentials"), "\(file): import HeartwoodFoundation instead")
      }
    }
  }

  @Test func targetsDependOnWhatTheirModulesMayImport() throws {
    let allowed = try Self.allowed()
    let targets = Self.targets(in: try SourceTree.text("Package.swift")).filter { allowed[$0.name] != nil }
    #expect(Set(targets.map(\.name)) == Set(allowed.keys))
    for target in targets {
      #expect(target.dependencies == allowed[target.name], "\(target.name) depends on others than the table has.")
    }
  }

  /// What comes along with another module can be imported too, until that one does without it.
  @Test func testsDependOnWhatTheyImport() throws {
    let all = Self.targets(in: try SourceTree.text("Package.swift"))
    let own = Set(all.map(\.name))
    let targets = all.filter { SourceTree.exists("Tests/\($0.name)") }
    #expect(targets.count > 10)
    for target in targets {
      for file in try SourceTree.files(in: "Tests/\(target.name)") where !file.contains("/Snippets/") {
        let imported = Set(Self.imports(in: Self.head(of: try SourceTree.text(file))))
        let wrong = imported.intersection(own).subtracting(target.dependencies)
        #expect(wrong.isEmpty, "\(file) imports \(wrong.sorted()), on which \(target.name) does not depend")
      }
    }
  }

  /// The lines before the first declaration: further below, texts of tests may import something.
  private static func head(of source: String) -> String {
    let lines = source.split(separator: "\n").prefix {
      $0.contains("import ") || $0.hasPrefix("#") || $0.hasPrefix("//")
    }
    return lines.joined(separator: "\n")
  }

  @Test func importsAreFoundWhateverTheyLookLike() {
    let source = """
      // import A
      import B
        public import C
      @_exported public import D
      package import struct E.Name
      @testable import F
      import G.Part  // why
      /// import H
      let important = 1
      import\tI;import J
      """
    #expect(Self.imports(in: source) == ["B", "C", "D", "E", "F", "G", "I", "J"])
  }

  @Test func targetsAreFoundWithAllThatTheyDependOn() {
    let manifest = """
        targets: [
          .systemLibrary(name: "A", pkgConfig: "a", providers: [.apt(["a-dev"])]),
          .target(name: "B", dependencies: ["A", .product(name: "P", package: "p")], swiftSettings: settings),
          .executableTarget(
            name: "C",
            dependencies: [
              "B",
              .target(name: "D", condition: .when(traits: ["T"])),
            ]
          ),
        ]
      """
    let targets = Self.targets(in: manifest)
    #expect(targets.map(\.name) == ["A", "B", "C"])
    #expect(targets.map { $0.dependencies.sorted() } == [[], ["A", "P"], ["B", "D"]])
  }

  /// The targets of a manifest that is formatted as ours is, and what they depend on.
  private static func targets(in manifest: String) -> [(name: String, dependencies: Set<String>)] {
    // Products have the names of targets.
    guard let start = manifest.firstRange(of: "targets: [\n")?.upperBound else { return [] }
    let blocks = manifest[start...].split(separator: /(?m)^    \.(?=\w+\()/, omittingEmptySubsequences: false)
    return blocks.dropFirst().compactMap { block in
      block.firstMatch(of: /name: "(\w+)"/).map { (String($0.1), dependencies(in: block)) }
    }
  }

  /// The names in the list of dependencies, without those of packages and traits.
  private static func dependencies(in target: Substring) -> Set<String> {
    guard let start = target.firstRange(of: "dependencies: [")?.upperBound else { return [] }
    let text = target[start...].replacing(/(?:package|traits): (?:\[[^\]]*\]|"[^"]*")/, with: "")
    return Set(text.prefix { $0 != "]" }.matches(of: /"(\w+)"/).map { String($0.1) })
  }

  /// The modules that `source` imports, in order. Where text is written that imports something, it begins a line as code does; what it
  /// names is a module of its reader.
  private static func imports(in source: String) -> [String] {
    let declaration =
      #/
      ^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+
      (?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)
      /#
    let statements = source.split(separator: "\n").flatMap { $0.split(separator: ";") }
    return statements.compactMap { statement in
      (try? declaration.firstMatch(in: statement)).map { String($0.1) }
    }
  }
}
