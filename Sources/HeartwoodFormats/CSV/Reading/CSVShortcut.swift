import HeartwoodModel
import HeartwoodStore

/// Predicts the ends of a column's fields from their usual values, so that not every byte has to be examined.
///
/// A field that has the hyphens of a UUID or a date, and a separator or line end after the length of such a text, is
/// taken for one. The prediction is checked when the field is read: it can contain no separator, quote or line end, so
/// a field that reads as one ends at the predicted place. A fault that is found with shortcuts is therefore looked for
/// again without them.
struct CSVShortcut: BitwiseCopyable {
  private let length: Int
  /// The offset of the bytes to compare, which are those of ``mask``, and their values.
  private let offset: Int
  private let mask: UInt64
  private let pattern: UInt64

  private init(length: Int, offset: Int, mask: UInt64, pattern: UInt64) {
    self.length = length
    self.offset = offset
    self.mask = mask
    self.pattern = pattern
  }

  /// No field matches it.
  private static let none = CSVShortcut(length: 0, offset: 0, mask: 0, pattern: 1)
  /// The first two hyphens.
  private static let uuid = CSVShortcut(
    length: UUIDText.length,
    offset: 8,
    mask: 0x0000_FF00_0000_00FF,
    pattern: 0x0000_2D00_0000_002D
  )
  /// The hyphens and the space of `2016-09-17 18:15:00 +0000`.
  private static let date = CSVShortcut(
    length: 25,
    offset: 4,
    mask: 0x00FF_0000_FF00_00FF,
    pattern: 0x0020_0000_2D00_002D
  )

  /// Returns the shortcuts for the columns of a file.
  static func shortcuts(_ schema: CSVSchema) -> [CSVShortcut] {
    let references = CSVReferenceText(allowsBareStrings: schema.layout.allowsBareStringReferences)
    return schema.columns.map { column in
      switch column.content {
      case .reference: references.takesEveryUUID ? uuid : none
      case .attribute(_, .uuid): uuid
      case .attribute(_, .date): date
      case .attribute, .relationship, .ignored: none
      }
    }
  }

  /// Returns the predicted end of a field that begins at `start`; nil if it does not match.
  ///
  /// It reads no byte further from `start` than ``CSVWindow/padding``.
  @inline(__always)
  func end(_ text: UnsafeRawPointer, _ start: Int, separator: UInt8) -> Int? {
    let word = text.loadUnaligned(fromByteOffset: start &+ offset, as: UInt64.self)
    guard word & mask == pattern else { return nil }
    let end = start &+ length
    let byte = text.load(fromByteOffset: end, as: UInt8.self)
    return byte == separator || byte == CSVFormat.lineFeed ? end : nil
  }
}

// MARK: CSVLocator

/// Converts the place of a byte in a file to a line and a column for people.
struct CSVLocator {
  private static let blockSize = 1 << 16

  let file: StoreInput

  func error(_ fault: CSVFault, entity: EntityDescription?) throws(PersistenceError) -> PersistenceError {
    let (line, column) = try place(of: fault.offset)
    return PersistenceError(
      fault.code,
      fault.reason,
      recovery: fault.recovery,
      context: .init(
        path: file.path,
        line: line,
        column: column,
        byteOffset: fault.offset,
        storeType: .csv,
        entity: entity?.name,
        property: fault.property
      )
    )
  }

  /// Returns the line and the character in it, both counted from 1. O(offset), and it reads the file up to there.
  func place(of offset: Int) throws(PersistenceError) -> (line: Int, column: Int) {
    var (line, lineStart, position) = (1, 0, 0)
    while position < offset {
      let block = try file.bytes(from: position, count: min(Self.blockSize, offset - position))
      guard !block.isEmpty else { break }
      for (index, byte) in block.enumerated() where byte == CSVFormat.lineFeed {
        line += 1
        lineStart = position + index + 1
      }
      position += block.count
    }
    return (line, try characterCount(lineStart..<max(lineStart, position)) + 1)
  }

  /// Returns how many Unicode scalars begin in a part of a line, without the byte order mark.
  private func characterCount(_ range: Range<Int>) throws(PersistenceError) -> Int {
    var bytes = try file.bytes(from: range.lowerBound, count: range.count)[...]
    if range.lowerBound == 0, bytes.starts(with: CSVFormat.byteOrderMark) { bytes = bytes.dropFirst(3) }
    return bytes.count { $0 & 0xC0 != 0x80 }
  }
}

// MARK: CSVFault

/// A fault of a file, at one of its bytes. The line is counted only when it is needed for an error message.
struct CSVFault: Error, Sendable {
  /// The offset of the byte in the file.
  var offset: Int
  var reason: String
  var recovery: PersistenceError.Recovery?
  var property: String?
  var code = PersistenceError.Code.fileMalformed
}
