package import Foundation

/// Made-up to-dos, the same for the same seed. A shorter sequence is the beginning of a longer one.
///
/// Written as CSV a row has 93 bytes on average. One memo in fifty has a comma and one in a thousand has quotation marks, so both
/// are quoted; one word in twenty is not ASCII.
package struct ToDoSequence: Sequence, IteratorProtocol {
  private var left: Int
  private var random: SplitMix64

  package init(count: Int, seed: UInt64 = ToDoSequence.standardSeed) {
    left = count
    random = SplitMix64(seed: seed)
  }

  /// The seed of the measurements.
  package static let standardSeed: UInt64 = 20_160_917

  /// A place that to-dos are looked for by.
  package static let wantedPlace: Int64 = 500_000

  /// The identifier in the first line of a file with this seed.
  package static func storeIdentifier(seed: UInt64 = standardSeed) -> UUID {
    var random = SplitMix64(seed: ~seed)
    return makeUUID(&random)
  }

  package mutating func next() -> ToDo? {
    guard left > 0 else { return nil }
    left -= 1
    return ToDo(
      isDone: random.below(2) == 1,
      memo: makeMemo(),
      sortOrder: Int64(random.below(1_000_000)),
      creationDate: makeDate(),
      recordID: Self.makeUUID(&random)
    )
  }

  private mutating func makeMemo() -> String {
    var memo = word()
    for _ in 0..<1 + random.below(3) {
      memo += " "
      memo += word()
    }
    switch random.below(1000) {
    case 0..<20: memo += ", " + word()
    case 20: memo += " \"" + word() + "\""
    default: break
    }
    return memo
  }

  private mutating func word() -> String {
    Self.words[random.below(Self.words.count)]
  }

  /// A full second of the ten years from 2016-09-17 on.
  private mutating func makeDate() -> Date {
    Date(timeIntervalSinceReferenceDate: Double(495_764_100 + random.below(315_360_000)))
  }

  /// Version 4, with random bits.
  private static func makeUUID(_ random: inout SplitMix64) -> UUID {
    let high = random.next() & ~0xF000 | 0x4000
    let low = random.next() & ~(0b11 << 62) | (0b10 << 62)
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) { buffer in
      buffer.storeBytes(of: high.bigEndian, as: UInt64.self)
      buffer.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return UUID(uuid: bytes)
  }

  private static let words = [
    "answer", "apples", "bake", "bike", "book", "bread", "buy", "café", "call", "clean", "cook", "doctor", "draw",
    "fix",
    "garden", "gift", "insert", "invoice", "learn", "letter", "mail", "meet", "milk", "mother", "music", "order",
    "paint",
    "paper", "plan", "plants", "read", "rent", "repair", "report", "run", "sell", "song", "Straße", "sweep", "tea",
    "tidy", "train", "trip", "walk", "wash", "water", "write", "yoga",
  ]
}
