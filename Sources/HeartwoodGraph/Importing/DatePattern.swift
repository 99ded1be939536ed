import HeartwoodStore

/// How dates are written: a pattern of Unicode's (UTS 35), as `DateFormatter` takes it, in the English of `en_US_POSIX`.
///
/// The fields are year `y` `u` `Y`, month `M` `L` as a number or a name, day `d`, hour `H` `k` `h` `K`, minute `m`, second `s`, fraction
/// `S`, half of the day `a`, weekday `E` `c` (any name), and zone `z` `Z` `X` `x` `O` `V`. Without a zone a date is in UTC.
struct DatePattern: Sendable {
  enum Field: Sendable {
    case year, month, monthName, day, hour, hourFromOne, hourOfHalf, minute, second, fraction, half, weekday, zone
  }

  enum Part: Sendable {
    case text(UInt8)
    case field(Field, width: Int)
  }

  private(set) var parts: [Part] = []

  /// Reads a pattern; nil where it has a field that is none of these.
  init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      if byte == UInt8(ascii: "'") {
        guard readQuoted(&rest) else { return nil }
      } else if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) {
        let width = rest.prefix { $0 == byte }.count
        guard let field = Self.field(byte, width: width) else { return nil }
        parts.append(.field(field, width: width))
        rest.removeFirst(width)
      } else {
        parts.append(.text(byte))
        rest.removeFirst()
      }
    }
  }

  /// Reads text in quotes; a doubled quote is one. Returns whether it ends.
  private mutating func readQuoted(_ rest: inout ArraySlice<UInt8>) -> Bool {
    let quote = UInt8(ascii: "'")
    rest.removeFirst()
    if rest.first == quote {
      parts.append(.text(rest.removeFirst()))
      return true
    }
    while let byte = rest.popFirst() {
      if byte != quote {
        parts.append(.text(byte))
      } else if rest.first == quote {
        parts.append(.text(rest.removeFirst()))
      } else {
        return true
      }
    }
    return false
  }

  private static func field(_ letter: UInt8, width: Int) -> Field? {
    switch Unicode.Scalar(letter) {
    case "y", "u", "Y": .year
    case "M", "L": width > 2 ? .monthName : .month
    case "d": .day
    case "H": .hour
    case "k": .hourFromOne
    case "h", "K": .hourOfHalf
    case "m": .minute
    case "s": .second
    case "S": .fraction
    case "a": .half
    case "E", "c": .weekday
    case "z", "Z", "X", "x", "O", "V": .zone
    default: nil
    }
  }
}

extension DatePattern {
  /// The seconds from 2001-01-01 00:00 UTC to the date that `text` says; nil where it is not written like this.
  func seconds(_ text: String) -> Double? {
    var reader = DateFieldReader(text)
    for (index, part) in parts.enumerated() {
      switch part {
      case .text(let byte):
        guard reader.skip(byte) else { return nil }
      case .field(let field, let width):
        let isBounded = parts.indices.contains(index + 1) && parts[index + 1].isNumber
        guard reader.read(field, width: width, isBounded: isBounded) else { return nil }
      }
    }
    return reader.isAtEnd ? reader.seconds : nil
  }
}

extension DatePattern.Part {
  /// Whether digits stand here, so that a number before it has as many as its field is wide.
  fileprivate var isNumber: Bool {
    switch self {
    case .text, .field(.monthName, _), .field(.half, _), .field(.weekday, _), .field(.zone, _): false
    case .field: true
    }
  }
}
