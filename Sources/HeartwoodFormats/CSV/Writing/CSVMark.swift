/// A few bytes that stand between values, in one word.
struct CSVMark: BitwiseCopyable {
  static let capacity = 8

  /// The bytes, the first one lowest; zeros above them.
  let word: UInt64
  let count: Int

  init(_ bytes: [UInt8]) {
    precondition(bytes.count <= Self.capacity, "A mark has at most 8 bytes.")
    word = bytes.reversed().reduce(0) { $0 &<< 8 | UInt64($1) }
    count = bytes.count
  }
}
