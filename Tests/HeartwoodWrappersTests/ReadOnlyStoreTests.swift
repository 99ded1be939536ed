import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodWrappers
import Testing

@Suite struct ReadOnlyStoreTests {
  @Test func recordsAreReadAndNeverWritten() throws {
    let fixture = try WrapperFixture(BinaryStore.self, ReadOnlyStore<BinaryStore>.self)
    try fixture.write(["a"], .binary)
    let before = try fixture.bytes
    #expect(try fixture.read("ReadOnlyBinary") == ["a"])
    let error = #expect(throws: PersistenceError.self) { try fixture.write(["b"], "ReadOnlyBinary") }
    #expect(error?.code == .storeReadOnly)
    #expect(error?.message.contains("Binary") == true)
    #expect(try fixture.bytes == before)
  }
}
