import Foundation
import Testing

@testable import HeartwoodStore

@Suite struct RandomUUIDTests {
  @Test func uuidsAreOfVersion4AndAllDiffer() {
    let bytes = RandomUUIDs.bytes(count: 5000)
    #expect(bytes.count == 5000 * 16)
    let all = (0..<5000).map { UUID(uuid: bytes.unsafeBase.loadUnaligned(fromByteOffset: $0 * 16, as: uuid_t.self)) }
    #expect(Set(all).count == all.count)
    #expect(all.allSatisfy { $0.uuid.6 >> 4 == 4 && $0.uuid.8 >> 6 == 2 })
    // Every other bit is set in about half of them.
    for bit in 0..<128 where ![48, 49, 50, 51, 64, 65].contains(bit) {
      let count = all.count { uuid in withUnsafeBytes(of: uuid.uuid) { $0[bit / 8] >> (7 - bit % 8) & 1 == 1 } }
      #expect((2200...2800).contains(count), "bit \(bit)")
    }
  }
}
