import HeartwoodModel
import HeartwoodStore

/// A save that was added to the end of a file: what it does to the records, and the transaction of the history.
struct BinaryBlock: Sendable {
  static let headLength = 64
  static let magic: [UInt8] = [0x89, 0x48, 0x57, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]
  static let checksumOffset = 56

  /// The slot that names the save.
  let slot: BinarySlot
  /// The bytes of the block in the file, its head and the zeros after it included.
  let range: Range<Int>
  let runs: [Run]
  /// The transaction of the history; nil if there is none.
  let transaction: ByteSlice?

  /// Rows of one table to which the same was done.
  struct Run: Sendable {
    /// The place of the table in the directory.
    let table: Int
    let kind: Kind
    /// The layout of the references of new records.
    let referenceLayout: ReferenceColumn.Layout
    let rowCount: Int
    /// The number of columns that get values.
    let columnCount: Int
    let content: ByteSlice
    /// The offset of the content in the file.
    let offset: Int
  }

  /// What was done to rows, with the numbers that the history has for it.
  enum Kind: UInt8, Sendable {
    case insertion = 0
    case update = 1
    case deletion = 2
  }

  /// The number of bytes of a run's description.
  static let runLength = 20
  /// The number of bytes before the descriptions of the runs.
  static let bodyHeadLength = 16
}

// MARK: Reading

extension BinaryBlock {
  /// Reads the block that bytes begin with, which lie after a save; nil if there is no whole one.
  init?(_ file: ByteSlice, after previous: BinarySlot) {
    defer { withExtendedLifetime(file) {} }
    let offset = previous.end
    guard file.count >= Self.headLength else { return nil }
    let head = UnsafeRawBufferPointer(rebasing: file.unsafeBytes[..<Self.headLength])
    func number(_ place: Int) -> UInt64 {
      UInt64(littleEndian: head.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
    let chain = number(Self.checksumOffset)
    guard head.starts(with: Self.magic), number(8) == previous.number &+ 1, number(40) == previous.chain,
      chain == XXH64.hash(UnsafeRawBufferPointer(rebasing: head[..<Self.checksumOffset])), number(48) == 0,
      let length = Int(exactly: number(16)), let bodyLength = Int(exactly: number(24)),
      length <= file.count, bodyLength <= length - Self.headLength,
      length == Self.headLength + bodyLength + BinaryFormat.paddingLength(bodyLength),
      let body = file.slice(from: Self.headLength, count: bodyLength), XXH64.hash(body) == number(32),
      file.unsafeBytes[(Self.headLength + bodyLength)..<length].allSatisfy({ $0 == 0 }),
      let content = Self.content(body, offset: offset + Self.headLength)
    else { return nil }
    self.range = offset..<(offset + length)
    self.slot = previous.next(end: range.upperBound, chain: chain)
    self.runs = content.runs
    self.transaction = content.transaction
  }

  /// Returns the length of the block that begins with bytes; nil if they are not the head of a block.
  static func length(ofHead head: [UInt8]) -> Int? {
    guard head.count == headLength, head.starts(with: magic) else { return nil }
    let length = head.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self)) }
    return Int(exactly: length)
  }

  /// Reads the descriptions of the runs; nil if they do not fit the bytes.
  private static func content(_ body: ByteSlice, offset: Int) -> (runs: [Run], transaction: ByteSlice?)? {
    defer { withExtendedLifetime(body) {} }
    let bytes = body.unsafeBytes
    func number(_ place: Int) -> Int {
      Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }
    guard bytes.count >= bodyHeadLength else { return nil }
    let (runCount, hasTransaction, transactionLength) = (number(0), number(4), number(8))
    guard number(12) == 0, hasTransaction <= 1, runCount <= (bytes.count - bodyHeadLength) / runLength else {
      return nil
    }
    var runs: [Run] = []
    runs.reserveCapacity(runCount)
    var next = bodyHeadLength + runCount * runLength
    for place in stride(from: bodyHeadLength, to: next, by: runLength) {
      let length = number(place + 16)
      guard let kind = Kind(rawValue: bytes[place + 4]), bytes[place + 6] == 0, bytes[place + 7] == 0,
        let layout = ReferenceColumn.Layout(rawValue: bytes[place + 5]), number(place + 8) > 0,
        let content = body.slice(from: next, count: length)
      else { return nil }
      runs.append(
        Run(
          table: number(place),
          kind: kind,
          referenceLayout: layout,
          rowCount: number(place + 8),
          columnCount: number(place + 12),
          content: content,
          offset: offset + next
        )
      )
      next += length
    }
    guard next + transactionLength == bytes.count, hasTransaction == 1 || transactionLength == 0 else { return nil }
    return (runs, hasTransaction == 1 ? body.slice(from: next, count: transactionLength) : nil)
  }
}

// MARK: BinaryBlockBuilder

/// Builds a block: runs one after the other, and the transaction of the history.
struct BinaryBlockBuilder {
  private let runHeads = GrowableBytes()
  private let content = GrowableBytes()
  private var runCount = 0
  private let entityCount: Int

  /// - Parameter entityCount: the number of entities in the model.
  init(entityCount: Int) {
    self.entityCount = entityCount
  }

  /// The number of bytes so far.
  var byteCount: Int { content.count + runHeads.count }

  /// Adds a run, whose content `body` appends.
  mutating func addRun(
    table: Int,
    _ kind: BinaryBlock.Kind,
    layout: ReferenceColumn.Layout = .integer,
    rowCount: Int,
    columnCount: Int,
    _ body: (borrowing BinaryBlockBuilder) -> Void
  ) {
    let start = content.count
    body(self)
    runHeads.append(UInt32(truncatingIfNeeded: table).littleEndian)
    runHeads.append(kind.rawValue)
    runHeads.append(layout.rawValue)
    runHeads.append(UInt16(0))
    runHeads.append(UInt32(truncatingIfNeeded: rowCount).littleEndian)
    runHeads.append(UInt32(truncatingIfNeeded: columnCount).littleEndian)
    runHeads.append(UInt32(truncatingIfNeeded: content.count - start).littleEndian)
    runCount += 1
  }

  func append(number: Int) { content.append(UInt32(truncatingIfNeeded: number).littleEndian) }

  func append(version: UInt64) { content.append(version.littleEndian) }

  /// Appends the references of new records, without their entity, which is that of the table.
  func append(_ references: ReferenceColumn) {
    var parts = BinaryImageBuilder(entityCount: entityCount)
    parts.append(references)
    append(parts.parts)
  }

  /// Appends values: how they lie, as in a directory, and their parts.
  func append(_ column: RecordColumn) {
    var parts = BinaryImageBuilder(entityCount: entityCount)
    parts.append(column).encode(to: content)
    append(parts.parts)
  }

  private func append(_ parts: [BinaryGroupImage.Part]) {
    for part in parts {
      append(number: part.bytes.count)
      content.append(part.bytes.unsafeBytes)
    }
  }

  /// Returns the block as it is stored in the file after a save, and the slot that names it.
  func encoded(_ transaction: ByteSlice?, after previous: BinarySlot) -> (bytes: [UInt8], slot: BinarySlot) {
    let body = GrowableBytes(capacity: BinaryBlock.bodyHeadLength + byteCount)
    body.append(UInt32(truncatingIfNeeded: runCount).littleEndian)
    body.append(UInt32(transaction == nil ? 0 : 1).littleEndian)
    body.append(UInt32(truncatingIfNeeded: transaction?.count ?? 0).littleEndian)
    body.append(UInt32(0))
    body.append(UnsafeRawBufferPointer(runHeads.unsafeMutableBytes))
    body.append(UnsafeRawBufferPointer(content.unsafeMutableBytes))
    if let transaction { body.append(transaction.unsafeBytes) }
    let bodyBytes = body.sealed()
    let padding = BinaryFormat.paddingLength(bodyBytes.count)
    let length = BinaryBlock.headLength + bodyBytes.count + padding
    let block = GrowableBytes(capacity: length)
    BinaryBlock.magic.withUnsafeBytes { block.append($0) }
    block.append((previous.number + 1).littleEndian)
    block.append(UInt64(length).littleEndian)
    block.append(UInt64(bodyBytes.count).littleEndian)
    block.append(XXH64.hash(bodyBytes).littleEndian)
    block.append(previous.chain.littleEndian)
    block.append(UInt64(0))
    let chain = XXH64.hash(UnsafeRawBufferPointer(block.unsafeMutableBytes))
    block.append(chain.littleEndian)
    block.append(bodyBytes.unsafeBytes)
    block.append(repeating: 0, count: padding)
    return (block.sealed().array, previous.next(end: previous.end + length, chain: chain))
  }
}
