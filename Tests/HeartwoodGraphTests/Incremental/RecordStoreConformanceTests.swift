import Foundation
import Heartwood
import HeartwoodTesting
import Synchronization
import Testing

/// The kit, run over an incremental store that has no file.
@Suite struct RecordStoreConformanceTests {
  private static let conformance = conformance { options in options[.recordDatabase] = RecordDatabase() }

  private static func conformance(_ set: @escaping @Sendable (inout StoreOptions) -> Void) -> StoreConformance {
    StoreConformance(
      RecordStore.self,
      detectsEveryChange: true,
      writesSameBytes: true,
      tellsModelVersion: true,
      options: { _ in
        var options = StoreOptions()
        set(&options)
        return options
      },
      refuses: { _, _ in false }
    )
  }

  @Test(arguments: conformance.cases)
  func conforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }

  /// The same store, which forgets what it has read as soon as it may.
  private static let forgetting = conformance { options in
    options[.recordDatabase] = RecordDatabase()
    (options[.recordsComparedAtOnce], options[.recordCacheSize]) = (0, 0)
  }

  @Test(arguments: forgetting.cases)
  func conformsWhileItForgets(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }

  /// The same store, which finds and changes records itself, and lists what others have changed.
  private static let answering = conformance { options in
    let database = RecordDatabase()
    database.answers.withLock { $0 = true }
    options[.recordDatabase] = database
  }

  @Test(arguments: answering.cases)
  func conformsWhileItAnswers(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }

  /// The same store at URLs, made by a format that knows the server.
  private static let atURLs = StoreConformance(
    RecordFormat(server: RecordServer()),
    at: { name in URL(filePath: "/\(name)").records },
    detectsEveryChange: true,
    writesSameBytes: true,
    tellsModelVersion: true,
    options: { _ in StoreOptions() },
    refuses: { _, _ in false }
  )

  @Test(arguments: atURLs.cases)
  func conformsAtURLs(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }
}

extension URL {
  /// The URL of a store of a ``RecordServer``.
  fileprivate var records: URL {
    var parts = URLComponents()
    (parts.scheme, parts.host, parts.path) = ("records", "host", path)
    return parts.url ?? self
  }
}
