import Foundation
import Heartwood
import HeartwoodTesting
import Testing

@testable import HeartwoodPostgreSQL

/// The kit, run over the PostgreSQL store.
@Suite(.needsServer) struct PostgreSQLConformanceTests {
  static let conformance = conformance(StatementCheck.checking(StoreOptions()))
  /// The same with what the store sends to CockroachDB.
  static let otherConformance = conformance(StatementCheck.cockroachDB)

  private static func conformance(_ options: StoreOptions) -> StoreConformance {
    StoreConformance(
      PostgreSQLFormat(),
      at: { name in
        // A server that does not start is an error of the first case that opens a store.
        let text = try? TestServer.shared.get().url(schema: name)
        return URL(string: text ?? "postgresql:///none/none?host=/nonexistent")
          ?? URL(filePath: "/nonexistent")
      },
      detectsEveryChange: false,
      writesSameBytes: false,
      tellsModelVersion: true,
      options: { _ in options },
      refuses: { value, _ in
        // PostgreSQL has no text with the character U+0000.
        if case .string(let text) = value { text.utf8.contains(0) } else { false }
      }
    )
  }

  @Test(arguments: conformance.cases)
  func conforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }

  /// A fifth of the cases: most of them send the same statements.
  @Test(arguments: otherConformance.cases.enumerated().filter { $0.offset.isMultiple(of: 5) }.map(\.element))
  func conformsInAnotherDialect(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }
}
