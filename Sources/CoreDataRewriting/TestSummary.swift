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

/// The tests that have run, by their names in the output of XCTest and of Swift Testing. Tests of several suites may have
/// the same name.
private struct TestRuns {
  private struct Counts {
    var started = 0
    var passed = 0
    var failed = 0
    var skipped = 0

    var unfinished: Int { max(0, started - passed - failed - skipped) }
  }

  private var counts: [String: Counts] = [:]
  private var hasCrashed = false
  private var hasThrown: Set<String> = []

  var passed: Int { counts.values.reduce(0) { $0 + $1.passed } }
  var failed: Int { counts.values.reduce(0) { $0 + $1.failed + $1.unfinished } }
  var skipped: Int { counts.values.reduce(0) { $0 + $1.skipped } }

  /// A kind for each test that fails.
  var walls: [String] {
    counts.flatMap { name, counts in
      let failure = hasThrown.contains(name) ? "a test catches an error" : "an expectation is not met"
      let end = hasCrashed ? "a test ends the program" : "a test does not end"
      return Array(repeating: failure, count: counts.failed) + Array(repeating: end, count: counts.unfinished)
    }
  }

  mutating func note(_ output: String) {
    var current = ""
    for line in output.split(whereSeparator: \.isNewline) {
      if line.contains("unexpected signal") || line.contains("Fatal error") { hasCrashed = true }
      if line.hasPrefix("Test Case '") {
        current = String(line.dropFirst("Test Case '".count).prefix { $0 != "'" })
        note(current, line.dropFirst("Test Case ''".count + current.count))
      } else if let mark = line.firstRange(of: " Test "), line.distance(from: line.startIndex, to: mark.lowerBound) <= 2
      {
        noteSwiftTest(line[mark.upperBound...])
      } else if line.contains(": error: \(current) :"), line.contains("threw error") || line.contains("caught error") {
        hasThrown.insert(current)
      }
    }
  }

  /// What stands behind the name of a test.
  private static let events = [" started", " passed", " failed", " skipped", " recorded an issue", " with "]

  private mutating func noteSwiftTest(_ rest: Substring) {
    if rest.hasPrefix("run with") || rest.hasPrefix("run started") || rest.hasPrefix("case ") { return }
    let marks = Self.events.compactMap { rest.firstRange(of: $0)?.lowerBound }
    guard let end = marks.min() else { return }
    let (name, event) = (String(rest[..<end]), rest[end...])
    if event.hasPrefix(" recorded an issue") {
      if event.contains("Caught error") { hasThrown.insert(name) }
    } else {
      // A test with arguments: " with 2 test cases passed".
      note(name, event)
    }
  }

  private mutating func note(_ name: String, _ event: Substring) {
    if event.contains(" started") { counts[name, default: Counts()].started += 1 }
    if event.contains(" passed") { counts[name, default: Counts()].passed += 1 }
    if event.contains(" failed") { counts[name, default: Counts()].failed += 1 }
    if event.contains(" skipped") { counts[name, default: Counts()].skipped += 1 }
  }
}
