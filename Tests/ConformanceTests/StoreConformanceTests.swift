import Foundation
import Heartwood
import HeartwoodTesting
import Testing

/// The kit, run over every store that ships.
@Suite struct StoreConformanceTests {
  static let conformances = [
    conformance(InMemoryStore.self, detectsEveryChange: true),
    conformance(BinaryStore.self, detectsEveryChange: true),
    conformance(CSVStore.self),
    conformance(XMLStore.self),
    conformance(PropertyListStore.self),
    conformance(PropertyListStore.self, options: xmlPropertyList),
    conformance(CoreDataBinaryStore.self),
  ]

  /// What is stated about a store that ships.
  private static func conformance(
    _ storeClass: any (AtomicStore & StoreClass).Type,
    detectsEveryChange: Bool = false,
    options: StoreOptions = StoreOptions()
  ) -> StoreConformance {
    StoreConformance(
      storeClass,
      detectsEveryChange: detectsEveryChange,
      writesSameBytes: true,
      tellsModelVersion: storeClass != CSVStore.self,
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

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Why a class that is a store does not run the kit by itself.
  private static let exceptions = [
    "ReadOnlyStore": "It saves nothing: ReadOnlyStoreTests hold it."
  ]

  /// Stores in products of their own are in no registry by default, so they are looked for in the sources.
  @Test func everyStoreThatShipsRunsTheKit() throws {
    let tested = Set(
      (Self.conformances + WrapperConformanceTests.conformances + [SQLiteConformanceTests.conformance]).map {
        ($0.format.storeClass.map { String(describing: $0) } ?? "").prefix { $0 != "<" }
      }
    )
    let declaration =
      /final class (\w+)(?:<[^>]*>)?: (?:AtomicStore, StoreClass|IncrementalStore, StoreClass|ForwardingStore) \{/
    var stores: Set<Substring> = []
    let sources = Self.root.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(atPath: sources.path))
    for case let name as String in files where name.hasSuffix(".swift") {
      let text = try String(contentsOf: sources.appending(path: name), encoding: .utf8)
      stores.formUnion(text.matches(of: declaration).filter { !isComment($0.range, in: text) }.map(\.1))
    }
    #expect(stores.isSuperset(of: ["SQLiteStore", "BinaryStore", "LoggingStore", "TransformedStore"]))
    let missing = stores.filter { !tested.contains($0) && Self.exceptions[String($0)] == nil }
    #expect(missing.isEmpty, "Add a StoreConformance for \(missing.sorted()).")
  }

  private func isComment(_ range: Range<String.Index>, in text: String) -> Bool {
    let start = text[..<range.lowerBound].lastIndex(of: "\n") ?? text.startIndex
    return text[start..<range.lowerBound].contains("///")
  }

  @Test(arguments: conformances)
  func casesHaveNamesOfTheirOwn(_ conformance: StoreConformance) {
    let names = conformance.cases.map(\.name)
    #expect(Set(names).count == names.count)
  }
}
