import SwiftParser
import SwiftSyntax

/// What became of the sources and tests of a package: how many type-check, exist, pass and fail, and what kinds of walls
/// hold the others.
package struct TestSummary {
  /// The number of sources of the package.
  private let fileCount: Int
  /// The tests that its sources declare.
  private let tests: Set<DeclaredTest>
  private var diagnostics: Set<BuildDiagnostic> = []
  private var runs = TestRuns()
  private var hasBuilt = false

  /// - Parameter sources: the sources of the package, by path.
  package init(_ sources: [String: String]) {
    fileCount = sources.count
    tests = sources.reduce(into: []) { $0.formUnion(DeclaredTest.tests(in: $1.value, path: $1.key)) }
  }

  /// Notes the output of a build.
  package mutating func noteBuild(_ output: String, succeeded: Bool) {
    hasBuilt = succeeded
    for line in output.split(whereSeparator: \.isNewline) {
      if let found = BuildDiagnostic(line) { diagnostics.insert(found) }
    }
  }

  /// Notes the output of a run of the tests.
  package mutating func noteRun(_ output: String) { runs.note(output) }

  /// The summary, in lines of text.
  package var text: String {
    let faulty = Set(diagnostics.map(\.path)).count
    let files = hasBuilt ? "\(fileCount) of \(fileCount)" : "at most \(fileCount - faulty) of \(fileCount)"
    let unbuilt = hasBuilt ? 0 : tests.count
    var lines = [
      "files that type-check  \(files)", "tests that exist       \(tests.count)",
      "  pass                 \(runs.passed)",
      "  fail                 \(runs.failed)", "  cannot be built      \(unbuilt)",
    ]
    let skipped = runs.skipped
    if skipped > 0 { lines.append("  are skipped          \(skipped)") }
    let others = tests.count - runs.passed - runs.failed - skipped - unbuilt
    if others > 0 { lines.append("  did not run          \(others)") }
    let walls = walls
    if !walls.isEmpty { lines.append("walls") }
    lines += walls.map { "  \($0.count) × \($0.kind)" }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The kinds of walls, the most frequent first.
  private var walls: [(kind: String, count: Int)] {
    var counts: [String: Int] = [:]
    for diagnostic in diagnostics { counts[diagnostic.kind, default: 0] += 1 }
    for kind in runs.walls { counts[kind, default: 0] += 1 }
    return counts.map { (kind: $0.key, count: $0.value) }.sorted { ($1.count, $0.kind) < ($0.count, $1.kind) }
  }
}

// MARK: DeclaredTest

/// A test that a source declares.
struct DeclaredTest: Hashable {
  let path: String
  let name: String

  /// Returns the methods of XCTest and the functions of Swift Testing that a source declares.
  static func tests(in source: String, path: String) -> Set<DeclaredTest> {
    guard source.contains("XCTest") || source.contains("import Testing") else { return [] }
    let finder = TestFinder(path)
    finder.walk(Parser.parse(source: source))
    return finder.found
  }
}

private final class TestFinder: SyntaxVisitor {
  private let path: String
  private var types: [String] = []
  private(set) var found: Set<DeclaredTest> = []

  init(_ path: String) {
    self.path = path
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name.text) }
  override func visitPost(_ node: ClassDeclSyntax) { types.removeLast() }
  override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name.text) }
  override func visitPost(_ node: StructDeclSyntax) { types.removeLast() }
  override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name.text) }
  override func visitPost(_ node: ActorDeclSyntax) { types.removeLast() }
  override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.extendedType.trimmedDescription)
  }
  override func visitPost(_ node: ExtensionDeclSyntax) { types.removeLast() }

  private func enter(_ type: String) -> SyntaxVisitorContinueKind {
    types.append(type)
    return .visitChildren
  }

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    let isMarked = node.attributes.contains {
      $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription.split(separator: ".").last == "Test"
    }
    let isPrivate = node.modifiers.contains { ["private", "fileprivate", "static"].contains($0.name.text) }
    let isOfXCTest =
      node.name.text.hasPrefix("test") && node.signature.parameterClause.parameters.isEmpty && !types.isEmpty
      && !isPrivate
      && node.signature.returnClause == nil
    if isMarked || isOfXCTest {
      found.insert(DeclaredTest(path: path, name: (types + [node.name.text]).joined(separator: ".")))
    }
    return .skipChildren
  }
}

// MARK: BuildDiagnostic

/// An error of the compiler.
struct BuildDiagnostic: Hashable {
  let path: String
  private let place: String
  private let message: String

  /// Reads a line such as `/Sources/A.swift:3:7: error: cannot find 'x' in scope`; nil for other lines.
  init?(_ line: Substring) {
    guard let mark = line.firstRange(of: ": error: ") else { return nil }
    let parts = line[..<mark.lowerBound].split(separator: ":")
    guard parts.count == 3, parts[0].hasSuffix(".swift"), Int(parts[1]) != nil, Int(parts[2]) != nil else { return nil }
    path = String(parts[0])
    place = "\(parts[1]):\(parts[2])"
    message = String(line[mark.upperBound...])
  }

  /// What the error is about, the same for all errors of its kind.
  var kind: String {
    let names = message.split(separator: "'", omittingEmptySubsequences: false)
    let first = names.count > 1 ? String(names[1]) : ""
    if message.hasPrefix("no such module") { return "the module \(first) is missing" }
    if message.hasPrefix("cannot find") { return "the name \(first) is missing" }
    if message.contains("has no member"), names.count > 3 { return "the member \(names[3]) of \(first) is missing" }
    if ["Objective-C", "@objc", "#selector", "#keyPath", "@NSManaged"].contains(where: message.contains) {
      return "Objective-C is needed"
    }
    if ["Sendable", "isolated", "data race", "concurrency"].contains(where: message.contains) {
      return "concurrency is checked otherwise"
    }
    if ["cannot convert", "argument", "ambiguous", "inferred"].contains(where: message.contains) {
      return "types do not fit"
    }
    if message.contains("override") { return "a method cannot be overridden" }
    return "other errors of the compiler"
  }
}

// MARK: TestRuns

/// The tests that have run, by their names in the output of XCTest and of Swift Testing.
private struct TestRuns {
  private var started: Set<String> = []
  private var passedNames: Set<String> = []
  private var failedNames: Set<String> = []
  private var skippedNames: Set<String> = []
  private var hasCrashed = false
  private var hasThrown: Set<String> = []

  var passed: Int { passedNames.subtracting(failedNames).count }
  var failed: Int { failedNames.union(unfinished).count }
  var skipped: Int { skippedNames.subtracting(failedNames).count }

  /// The tests during which the program has ended.
  private var unfinished: Set<String> {
    started.subtracting(passedNames).subtracting(failedNames).subtracting(skippedNames)
  }

  /// A kind for each test that fails.
  var walls: [String] {
    failedNames.map { hasThrown.contains($0) ? "a test catches an error" : "an expectation is not met" }
      + unfinished.map { _ in hasCrashed ? "a test ends the program" : "a test does not end" }
  }

  mutating func note(_ output: String) {
    var current = ""
    for line in output.split(whereSeparator: \.isNewline) {
      if line.contains("unexpected signal") || line.contains("Fatal error") { hasCrashed = true }
      if line.hasPrefix("Test Case '") {
        let name = String(line.dropFirst("Test Case '".count).prefix { $0 != "'" })
        current = name
        note(name, line)
      } else if let mark = line.firstRange(of: " Test "), line.distance(from: line.startIndex, to: mark.lowerBound) <= 2
      {
        noteSwiftTest(line[mark.upperBound...], line)
      } else if line.contains(": error: \(current) :"), line.contains("threw error") || line.contains("caught error") {
        hasThrown.insert(current)
      }
    }
  }

  private mutating func noteSwiftTest(_ rest: Substring, _ line: Substring) {
    if rest.hasPrefix("run with") || rest.hasPrefix("run started") || rest.hasPrefix("case ") { return }
    for end in [" started", " passed", " failed", " skipped", " recorded an issue"] {
      guard let mark = rest.firstRange(of: end) else { continue }
      let name = String(rest[..<mark.lowerBound])
      if line.contains("Caught error") { hasThrown.insert(name) }
      if end == " recorded an issue" {
        started.insert(name)
      } else {
        note(name, line)
      }
      return
    }
  }

  private mutating func note(_ name: String, _ line: Substring) {
    started.insert(name)
    if line.contains(" passed") { passedNames.insert(name) }
    if line.contains(" failed") { failedNames.insert(name) }
    if line.contains(" skipped") { skippedNames.insert(name) }
  }
}
