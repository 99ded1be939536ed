import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import HeartwoodWrappers
import Testing

@Suite struct FaultInjectingStoreTests {
  private struct TestFault: Error {}

  private static let type: StoreType = "FaultInjectingCSV"
  private let faults = StoreFaults()
  private let fixture: WrapperFixture

  init() throws {
    var fixture = try WrapperFixture(FaultInjectingStore<CSVStore>.self)
    fixture.options[.storeFaults] = faults
    self.fixture = fixture
  }

  @Test func withoutFaultsItIsTheStoreInside() throws {
    try fixture.write(["a", "b"], Self.type)
    #expect(try fixture.read(Self.type) == ["a", "b"])
    #expect(faults.operations == [.validate, .save, .readMetadata, .load])
  }

  @Test(arguments: [0, 1, 1_000_000])
  func aSaveThatFailsLeavesTheOldFile(_ byteCount: Int) throws {
    try fixture.write(["a"], Self.type)
    let before = try fixture.bytes
    let context = ManagedObjectContext(try fixture.coordinator(Self.type))
    try context.insert(entityName: "Note").setPropertyValue(.string("b"), forKey: "text")
    faults.fail(.save, afterByteCount: byteCount, with: TestFault())
    #expect(throws: TestFault.self) { try context.save() }
    #expect(try fixture.bytes == before)
    #expect(context.hasChanges)
    // Only the next one fails.
    try context.save()
    #expect(try fixture.read(Self.type) == ["a", "b"])
  }

  @Test(arguments: [StoreFaults.Operation.readMetadata, .load])
  func openingFails(_ operation: StoreFaults.Operation) throws {
    try fixture.write(["a"], Self.type)
    faults.fail(operation)
    #expect(try fixture.readingError(Self.type).code == .fileWriteFailed)
    #expect(try fixture.read(Self.type) == ["a"])
  }

  @Test func validationFails() throws {
    faults.fail(.validate, with: PersistenceError(.valueUnsupported, "Not this one."))
    let error = #expect(throws: PersistenceError.self) { try fixture.write(["a"], Self.type) }
    #expect(error?.code == .valueUnsupported)
    #expect(fixture.files.paths.isEmpty)
  }
}
