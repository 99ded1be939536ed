/// Gives each number that it meets a code, the first 0, the next new one 1, and so on. Slots are probed in order.
struct NumberCodes: Sendable {
  private struct Slot {
    var number: UInt64
    /// ``NumberCodes/free`` where the slot is empty.
    var code: UInt32
  }

  private static let free = UInt32.max
  private var slots = [Slot](repeating: Slot(number: 0, code: free), count: 64)
  private var used = 0

  /// Writes the codes of the numbers for 0 up to `count`.
  ///
  /// - Parameters:
  ///   - next: the code that a new number gets; goes up with each.
  ///   - number: nil where there is none: then `codeOfNone` gives the code.
  @inline(__always)
  mutating func encode(
    _ count: Int,
    into codes: UnsafeMutableBufferPointer<UInt32>,
    next: inout UInt32,
    codeOfNone: inout UInt32?,
    number: (Int) -> UInt64?
  ) {
    var index = 0
    while index < count {
      index = fill(from: index, count, into: codes, &next, &codeOfNone, number)
      if index < count { grow() }
    }
  }

  /// Goes on until all is written or the table is half full, and tells where it stands.
  @inline(__always)
  private mutating func fill(
    from start: Int,
    _ count: Int,
    into codes: UnsafeMutableBufferPointer<UInt32>,
    _ next: inout UInt32,
    _ codeOfNone: inout UInt32?,
    _ number: (Int) -> UInt64?
  ) -> Int {
    let (mask, room) = (slots.count - 1, slots.count / 2)
    let shift = UInt64(slots.count.leadingZeroBitCount + 1)
    return slots.withUnsafeMutableBufferPointer { slots in
      for index in start..<count {
        guard let number = number(index) else {
          codes[index] = CodeHash.code(&codeOfNone, &next)
          continue
        }
        var place = Int(truncatingIfNeeded: CodeHash.hash(number) &>> shift)
        while slots[place].code != Self.free, slots[place].number != number { place = (place &+ 1) & mask }
        if slots[place].code == Self.free {
          if used == room { return index }
          slots[place] = Slot(number: number, code: next)
          used &+= 1
          next &+= 1
        }
        codes[index] = slots[place].code
      }
      return count
    }
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(number: 0, code: Self.free), count: old.count * 4)
    let (mask, shift) = (slots.count - 1, UInt64(slots.count.leadingZeroBitCount + 1))
    for slot in old where slot.code != Self.free {
      var place = Int(truncatingIfNeeded: CodeHash.hash(slot.number) &>> shift)
      while slots[place].code != Self.free { place = (place + 1) & mask }
      slots[place] = slot
    }
  }
}
