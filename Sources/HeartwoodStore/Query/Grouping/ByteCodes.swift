/// Gives each sequence of bytes that it meets a code, and keeps a copy of it.
struct ByteCodes: Sendable {
  private struct Slot {
    var hash: UInt64
    /// Which sequence it is; ``ByteCodes/free`` where the slot is empty.
    var entry: UInt32
    var code: UInt32
  }

  private static let free = UInt32.max
  private var slots = [Slot](repeating: Slot(hash: 0, entry: free, code: 0), count: 64)
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  /// The code of `text`; a new one gets `next`, which goes up.
  mutating func code(of text: UnsafeRawBufferPointer, next: inout UInt32) -> UInt32 {
    let hash = CodeHash.hash(text)
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash &>> UInt64(slots.count.leadingZeroBitCount + 1))
    while slots[place].entry != Self.free {
      if slots[place].hash == hash, isEqual(Int(slots[place].entry), text) { return slots[place].code }
      place = (place &+ 1) & mask
    }
    slots[place] = Slot(hash: hash, entry: UInt32(ends.count), code: next)
    bytes.append(contentsOf: text)
    ends.append(bytes.count)
    next &+= 1
    if ends.count * 2 > slots.count { grow() }
    return next &- 1
  }

  private func isEqual(_ entry: Int, _ text: UnsafeRawBufferPointer) -> Bool {
    let start = entry == 0 ? 0 : ends[entry - 1]
    guard ends[entry] - start == text.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      ByteOrder.compare(UnsafeRawBufferPointer(rebasing: bytes[start..<ends[entry]]), text) == 0
    }
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(hash: 0, entry: Self.free, code: 0), count: old.count * 4)
    let (mask, shift) = (slots.count - 1, UInt64(slots.count.leadingZeroBitCount + 1))
    for slot in old where slot.entry != Self.free {
      var place = Int(truncatingIfNeeded: slot.hash &>> shift)
      while slots[place].entry != Self.free { place = (place + 1) & mask }
      slots[place] = slot
    }
  }
}
