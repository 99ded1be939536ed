import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// Makes UUIDs of version 7: they begin with the time, so that new rows are at the end of an index, and they are unique
/// across processes.
///
/// The UUIDs of one process ascend, also within a millisecond: the time is followed by a counter of 12 bits, and if
/// that overflows, the time runs ahead of the clock. The other 62 bits are random.
enum ReferenceMaker {
  private static let greatestCount: UInt64 = 0xFFF
  private static let last = Mutex<(milliseconds: UInt64, count: UInt64)>((0, 0))

  /// Returns `count` UUIDs, each greater than those before it.
  static func references(count: Int) -> [UUID] {
    last.withLock { last in
      let now = milliseconds()
      if now > last.milliseconds { last = (now, 0) }
      return (0..<count).map { _ in
        last.count += 1
        if last.count > greatestCount { last = (last.milliseconds + 1, 0) }
        return uuid(last.milliseconds, last.count)
      }
    }
  }

  private static func milliseconds() -> UInt64 {
    UInt64(max(0, Date().timeIntervalSince1970 * 1000))
  }

  private static func uuid(_ milliseconds: UInt64, _ count: UInt64) -> UUID {
    let high = milliseconds << 16 | 0x7000 | count
    let low = UInt64.random(in: .min ... .max) & ~(0b11 << 62) | 0b10 << 62
    var bytes: [UInt8] = []
    bytes.append(bigEndian: high)
    bytes.append(bigEndian: low)
    return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
  }
}
