import HeartwoodModel

/// Tells which references have been met. Numbers that lie close together, as the keys of a database do, take a bit each and are not hashed.
struct ReferenceSet {
  /// Up to so many bits a reference: about as much memory as a set takes.
  private static let greatestBitsPerReference = 256

  private var least: Int64 = 0
  /// A bit for each number from the least on; empty where references are hashed.
  private var words: [UInt64] = []
  private var others: Set<ReferenceID> = []

  /// An empty set for references that are among `references`. O(n).
  init(for references: [ReferenceID]) {
    guard let bounds = Self.bounds(references) else { return }
    let span = UInt64(bitPattern: bounds.greatest &- bounds.least)
    guard span < UInt64(references.count * Self.greatestBitsPerReference) else { return }
    least = bounds.least
    words = Array(repeating: 0, count: Int(span / 64) + 1)
  }

  /// The least and the greatest number; nil where there is none, or where something else is among them.
  private static func bounds(_ references: [ReferenceID]) -> (least: Int64, greatest: Int64)? {
    guard case .integer(let first) = references.first else { return nil }
    var bounds = (least: first, greatest: first)
    for reference in references {
      guard case .integer(let number) = reference else { return nil }
      bounds = (min(bounds.least, number), max(bounds.greatest, number))
    }
    return bounds
  }

  /// Notes that `reference` has been met; false where it was before.
  mutating func insert(_ reference: ReferenceID) -> Bool {
    guard case .integer(let number) = reference, !words.isEmpty else { return others.insert(reference).inserted }
    let place = Int(number &- least)
    let bit = UInt64(1) << UInt64(place % 64)
    if words[place / 64] & bit != 0 { return false }
    words[place / 64] |= bit
    return true
  }
}
