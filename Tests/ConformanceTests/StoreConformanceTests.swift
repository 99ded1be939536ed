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
    conformance(InMemoryStore.self, detectsEveryChange: true),
    conformance(BinaryStore.self, detectsEveryChange: true),
    conformance(CSVStore.self),
    conformance(XMLStore.self),
    conformance(PropertyListStore.self),
    conformance(PropertyListStore.self, options: xmlPropertyList),
  ]

  /// What is stated about a store that ships.
  private static func conformance(
    _ storeClass: any StoreClass.Type,
    detectsEveryChange: Bool = false,
    options: StoreOptions = StoreOptions()
  ) -> StoreConformance {
    StoreConformance(
      storeClass,
      detectsEveryChange: detectsEveryChange,
      writesSameBytes: true,
      options: { _ in options },
      refuses: { value, _ in storeClass == CSVStore.self && isFarDate(value) }
    )
  }

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
