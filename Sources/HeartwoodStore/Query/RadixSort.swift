/// Sorts entries by their numbers, digit by digit, and leaves those with the same number in their order.
enum RadixSort {
  private static let digitBits = 11
  private static let digitCount = 1 << digitBits

  /// O(entries × digits in which the numbers differ).
  static func sorted(_ entries: [RowSort.Entry]) -> [RowSort.Entry] {
    guard let first = entries.first else { return [] }
    var (least, greatest) = (first.lead, first.lead)
    var isSorted = true
    var previous = first.lead
    for entry in entries {
      least = min(least, entry.lead)
      greatest = max(greatest, entry.lead)
      isSorted = isSorted && entry.lead >= previous
      previous = entry.lead
    }
    if isSorted { return entries }
    let bits = UInt64.bitWidth - (greatest - least).leadingZeroBitCount
    var source = entries
    var target = entries
    for shift in stride(from: 0, to: bits, by: digitBits) {
      pass(source, into: &target, by: UInt64(shift), over: least)
      swap(&source, &target)
    }
    return source
  }

  /// Sorts by one digit.
  private static func pass(
    _ source: [RowSort.Entry],
    into target: inout [RowSort.Entry],
    by shift: UInt64,
    over least: UInt64
  ) {
    let mask = UInt64(digitCount - 1)
    var places = [Int](repeating: 0, count: digitCount)
    source.withUnsafeBufferPointer { source in
      places.withUnsafeMutableBufferPointer { places in
        for entry in source { places[Int(truncatingIfNeeded: (entry.lead &- least) &>> shift & mask)] &+= 1 }
        var next = 0
        for digit in 0..<digitCount {
          let count = places[digit]
          places[digit] = next
          next &+= count
        }
        target.withUnsafeMutableBufferPointer { target in
          for entry in source {
            let digit = Int(truncatingIfNeeded: (entry.lead &- least) &>> shift & mask)
            target[places[digit]] = entry
            places[digit] &+= 1
          }
        }
      }
    }
  }
}
