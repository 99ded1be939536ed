import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodTesting
import Testing

/// The kit, run over the SQLite store, on files on the disk.
@Suite struct SQLiteConformanceTests {
  static let conformance = StoreConformance(
    SQLiteStore.self,
    detectsEveryChange: false,
    writesSameBytes: false,
    tellsModelVersion: true,
    options: { _ in StoreOptions() },
    refuses: refuses
  )

  static let refuses: @Sendable (PropertyValue, AttributeType) -> Bool = { value, _ in
    isNoNumber(value) || isTooExact(value)
  }

  /// Whether it is a NaN, for which SQLite has no place.
  private static func isNoNumber(_ value: PropertyValue) -> Bool {
    switch value {
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }

  /// Whether it is a decimal number that no real stands for, which is how Core Data keeps decimal numbers.
  private static func isTooExact(_ value: PropertyValue) -> Bool {
    guard case .decimal(let number) = value, !number.isNaN else { return false }
    guard let real = Double(number.description) else { return true }
    return Decimal(string: "\(real)") != number
  }

  @Test(arguments: conformance.cases)
  func conforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }
}
