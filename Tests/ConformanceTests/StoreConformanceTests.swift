import Heartwood
import HeartwoodTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The kit, run over every store that ships.
@Suite struct StoreConformanceTests {
  static let conformances = [
    StoreConformance(InMemoryStore.self, detectsEveryChange: true, writesSameBytes: true),
    StoreConformance(BinaryStore.self, detectsEveryChange: true, writesSameBytes: true),
    StoreConformance(
      CSVStore.self,
      detectsEveryChange: false,
      writesSameBytes: true,
      refuses: { value, _ in isFarDate(value) }
    ),
    StoreConformance(XMLStore.self, detectsEveryChange: false, writesSameBytes: true),
    StoreConformance(PropertyListStore.self, detectsEveryChange: false, writesSameBytes: true),
    StoreConformance(
      PropertyListStore.self,
      detectsEveryChange: false,
      writesSameBytes: true,
      options: { _ in xmlPropertyList }
    ),
  ]

  private static let xmlPropertyList: StoreOptions = {
    var options = StoreOptions()
    options[.propertyListKind] = .xml
    return options
  }()

  /// Whether it is a date outside of the years 1 to 9999, which is how CSV writes dates.
  static func isFarDate(_ value: PropertyValue) -> Bool {
    guard case .date(let date) = value else { return false }
    return !(-63_113_904_000..<252_423_993_600).contains(date.timeIntervalSinceReferenceDate)
  }

  @Test(arguments: conformances.flatMap(\.cases))
  func conforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }

  @Test func everyRegisteredStoreRunsTheKit() {
    let registered = Set(StoreRegistry.default.typeDescriptions.map(\.type))
    let missing = registered.subtracting(Self.conformances.map(\.type))
    #expect(missing.isEmpty, "Add a StoreConformance for \(missing) above.")
  }

  @Test(arguments: conformances)
  func casesHaveNamesOfTheirOwn(_ conformance: StoreConformance) {
    let names = conformance.cases.map(\.name)
    #expect(Set(names).count == names.count)
  }
}
