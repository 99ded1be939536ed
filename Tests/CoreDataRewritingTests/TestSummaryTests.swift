import Testing

@testable import CoreDataRewriting

@Suite struct TestSummaryTests {
  private static let sources = [
    "/P/Sources/A.swift": "import CoreData\nclass A { func test() {} }\n",
    "/P/Tests/ATests.swift": """
    import XCTest
    final class ATests: XCTestCase {
      func testOne() {}
      func testTwo() async throws { func testInner() {} }
      func testing(_ value: Int) {}
      private func testHelper() {}
      func test() -> Int { 1 }
    }
    """,
    "/P/Tests/BTests.swift": """
    import Testing
    @Suite struct BTests {
      @Test func one() {}
      @Test(arguments: [1, 2]) func two(_ value: Int) {}
      func other() {}
    }
    @Test func three() {}
    """,
  ]

  @Test func testsOfBothKindsAreCounted() {
    let names = Self.sources.flatMap { DeclaredTest.tests(in: $0.value, path: $0.key) }.map(\.name)
    #expect(Set(names) == ["ATests.testOne", "ATests.testTwo", "BTests.one", "BTests.two", "three"])
  }

  @Test func aRunIsSummarized() {
    var summary = TestSummary(Self.sources)
    summary.noteBuild("[1/2] Compiling A\n", succeeded: true)
    summary.noteRun(
      """
      Test Case 'ATests.testOne' started at 2026-01-01 00:00:00.000
      Test Case 'ATests.testOne' passed (0.001 seconds)
      Test Case 'ATests.testTwo' started at 2026-01-01 00:00:00.000
      /P/Tests/ATests.swift:4: error: ATests.testTwo : threw error "E"
      Test Case 'ATests.testTwo' failed (0.001 seconds)
      ◇ Test run started.
      ◇ Test one() started.
      ◇ Test two(_:) started.
      ◇ Test three() started.
      ✔ Test one() passed after 0.001 seconds.
      ✘ Test two(_:) recorded an issue with 1 argument value → 1 at BTests.swift:4:3: Expectation failed
      ✘ Test two(_:) with 2 test cases failed after 0.001 seconds with 1 issue.
      error: Exited with unexpected signal code 4
      """
    )
    #expect(
      summary.text == """
        files that type-check  3 of 3
        tests that exist       5
          pass                 2
          fail                 3
          cannot be built      0
        walls
          1 × a test catches an error
          1 × a test ends the program
          1 × an expectation is not met

        """
    )
  }

  @Test func whatCannotBeBuiltIsSummarized() {
    var summary = TestSummary(Self.sources)
    let error = "/P/Sources/A.swift:1:1: error: cannot find type 'NSFoo' in scope"
    summary.noteBuild(
      """
      \(error)
      \(error)
      /P/Sources/A.swift:2:1: error: cannot find 'NSFoo' in scope
      /P/Tests/ATests.swift:3:9: error: value of type 'NSManagedObject' has no member 'bar'
      /P/Tests/ATests.swift:4:9: warning: unused
         |  `- error: not a line of its own
      error: fatalError
      """,
      succeeded: false
    )
    #expect(
      summary.text == """
        files that type-check  at most 1 of 3
        tests that exist       5
          pass                 0
          fail                 0
          cannot be built      5
        walls
          2 × the name NSFoo is missing
          1 × the member bar of NSManagedObject is missing

        """
    )
  }

  @Test(arguments: [
    ("no such module 'SwiftUI'", "the module SwiftUI is missing"),
    ("'@objc' instance method requires Objective-C", "Objective-C is needed"),
    ("cannot convert value of type 'A' to 'B'", "types do not fit"),
    ("sending 'a' risks causing data races", "concurrency is checked otherwise"),
    ("method does not override any method from its superclass", "a method cannot be overridden"),
    ("expected '}'", "other errors of the compiler"),
  ])
  func errorsHaveKinds(message: String, kind: String) {
    #expect(BuildDiagnostic("/A.swift:1:2: error: \(message)")?.kind == kind)
  }
}
