/// The bytes of which the form consists.
enum CSVFormat {
  static let identifierMark = UInt8(ascii: "#")
  static let quote = UInt8(ascii: "\"")
  static let comma = UInt8(ascii: ",")
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// Separators that a file may show without the layout naming them, the likeliest first.
  static let detectableSeparators = [comma, UInt8(ascii: ";"), tab]
  /// Those that a file is tried for before one that has `separator` is found to have it.
  static func separatorsTried(before separator: UInt8) -> ArraySlice<UInt8> {
    detectableSeparators.firstIndex(of: separator).map { detectableSeparators[..<$0] } ?? []
  }

  /// What values other than texts are written with, and what has a meaning of its own.
  static let reservedBytes = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-.:/='%# \"".utf8)
  /// The longest record that is read or written, so that places in it fit into 31 bits.
  static let maximumRecordLength = 1 << 30

  /// What makes a text begin or end with white space.
  static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == space || (tab...carriageReturn).contains(byte)
  }
}
