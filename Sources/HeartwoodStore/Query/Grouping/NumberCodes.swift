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

// MARK: ByteCodes

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

// MARK: CodeHash

/// Hashes for tables of codes. They differ from process to process, so that nobody can make data that all fall into one place.
enum CodeHash {
  private static let seed = UInt64.random(in: 0...UInt64.max) | 1
  private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

  @inline(__always)
  static func hash(_ number: UInt64) -> UInt64 {
    let product = (number ^ seed).multipliedFullWidth(by: multiplier)
    return (product.high ^ product.low) &* multiplier
  }

  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(bytes.count)
    var place = 0
    while place &+ 8 <= bytes.count {
      hash = self.hash(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place &+= 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest &<< 8 | UInt64(bytes[place])
      place &+= 1
    }
    return self.hash(hash ^ rest)
  }

  /// The code of one value, such as none, which it gets when it is first met.
  @inline(__always)
  static func code(_ code: inout UInt32?, _ next: inout UInt32) -> UInt32 {
    if let code { return code }
    code = next
    next &+= 1
    return next &- 1
  }
}
