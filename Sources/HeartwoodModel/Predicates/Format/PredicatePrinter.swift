import HeartwoodFoundation

/// Writes predicates in the format language.
struct PredicatePrinter {
  private(set) var text = ""
  /// The place of the node at ``target``, after it is written.
  private(set) var place: Range<Int>?
  /// Whether strings, dates and similar values are left out, because they may be private.
  private let hidesValues: Bool
  /// The node whose place is wanted, as the indexes of children from the root.
  private let target: [Int]?
  private var path: [Int] = []

  init(hidingValues hidesValues: Bool = false, target: [Int]? = nil) {
    self.hidesValues = hidesValues
    self.target = target
  }

  private mutating func child(_ number: Int, _ write: (inout PredicatePrinter) -> Void) {
    path.append(number)
    let start = text.utf8.count
    write(&self)
    if path == target { place = start..<text.utf8.count }
    path.removeLast()
  }
}

extension FetchPredicate: CustomStringConvertible {
  /// The predicate as a format string, from which ``init(format:_:)`` reads the same predicate.
  ///
  /// There are three exceptions. The text for an object that has not been saved identifies no object. A predicate of
  /// more than 64 levels, which only code can make, cannot be read. And ``and(_:)`` and ``or(_:)`` with one term or
  /// none are read as their equivalent.
  public var description: String {
    var printer = PredicatePrinter()
    printer.write(self)
    return printer.text
  }
}

extension FetchExpression: CustomStringConvertible {
  /// The expression as in a format string.
  public var description: String {
    var printer = PredicatePrinter()
    printer.write(self)
    return printer.text
  }
}

// MARK: Predicates

extension PredicatePrinter {
  mutating func write(_ predicate: FetchPredicate) {
    switch predicate {
    case .literal(let flag): text += flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): write(comparison)
    case .not(let term):
      text += "NOT "
      child(0) { $0.writeTerm(term) }
    case .and(let terms): write(terms, joinedBy: " AND ", empty: true)
    case .or(let terms): write(terms, joinedBy: " OR ", empty: false)
    }
  }

  private mutating func write(_ terms: [FetchPredicate], joinedBy separator: String, empty: Bool) {
    if terms.isEmpty { write(.literal(empty)) }
    for (number, term) in terms.enumerated() {
      if number > 0 { text += separator }
      child(number) { terms.count == 1 ? $0.write(term) : $0.writeTerm(term) }
    }
  }

  /// Writes a predicate as a part of another.
  private mutating func writeTerm(_ predicate: FetchPredicate) {
    switch predicate {
    case .and(let terms) where !terms.isEmpty, .or(let terms) where !terms.isEmpty:
      text += "("
      write(predicate)
      text += ")"
    default: write(predicate)
    }
  }

  private mutating func write(_ comparison: FetchComparison) {
    if comparison.modifier != .direct { text += comparison.modifier.rawValue + " " }
    child(0) { $0.write(comparison.left) }
    text += " "
    child(2) { $0.text += comparison.comparator.rawValue + comparison.options.suffix }
    text += " "
    child(1) { $0.write(comparison.right) }
  }
}

extension FetchComparison.Options {
  static let letters: [(option: FetchComparison.Options, letter: Character)] = [
    (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
  ]

  fileprivate var suffix: String {
    let letters = Self.letters.filter { contains($0.option) }.map(\.letter)
    return letters.isEmpty ? "" : "[\(String(letters))]"
  }
}

// MARK: Expressions

extension PredicatePrinter {
  mutating func write(_ expression: FetchExpression) {
    switch expression {
    case .constant(let value): write(value)
    case .object(let uri): writeCast(uri.text, "ManagedObjectID")
    case .selfObject: text += "SELF"
    case .variable(let name): text += "$" + name
    case .keyPath(let base, let keys): write(keys, of: base)
    case .aggregate(let elements): writeList(elements, "{", "}")
    case .arithmetic(let left, let symbol, let right):
      child(0) { $0.writeOperand(left) }
      text += " \(symbol.rawValue) "
      child(1) { $0.writeOperand(right) }
    case .function(.negate, let arguments): writeList(arguments, "-(", ")")
    case .function(let function, let arguments): writeList(arguments, function.rawValue + "(", ")")
    case .subquery(let collection, let variable, let predicate):
      text += "SUBQUERY("
      child(0) { $0.write(collection) }
      text += ", $\(variable), "
      child(1) { $0.write(predicate) }
      text += ")"
    case .element(let collection, let index):
      child(0) { $0.writeBase(collection) }
      write(index)
    case .cast(let operand, let type): write(operand, castTo: type)
    case .conditional(let predicate, let first, let second):
      text += "TERNARY("
      child(0) { $0.write(predicate) }
      text += ", "
      child(1) { $0.write(first) }
      text += ", "
      child(2) { $0.write(second) }
      text += ")"
    }
  }

  private mutating func writeList(_ elements: [FetchExpression], _ opening: String, _ closing: String) {
    text += opening
    for (number, element) in elements.enumerated() {
      if number > 0 { text += ", " }
      child(number) { $0.write(element) }
    }
    text += closing
  }

  /// Writes an operand of an operator.
  private mutating func writeOperand(_ expression: FetchExpression) {
    if case .arithmetic = expression { writeBracketed(expression) } else { write(expression) }
  }

  /// Writes an expression that something follows.
  private mutating func writeBase(_ expression: FetchExpression) {
    switch expression {
    case .constant, .object, .arithmetic, .function(.negate, _): writeBracketed(expression)
    default: write(expression)
    }
  }

  private mutating func writeBracketed(_ expression: FetchExpression) {
    text += "("
    write(expression)
    text += ")"
  }

  private mutating func write(_ keys: [FetchKey], of base: FetchExpression) {
    if base != .selfObject {
      child(0) { $0.writeBase(base) }
      text += "."
    }
    for (number, key) in keys.enumerated() {
      if number > 0 { text += "." }
      child(1 + number) { $0.write(key) }
    }
  }

  private mutating func write(_ key: FetchKey) {
    switch key {
    case .collection(let symbol): text += symbol.rawValue
    case .property(let name) where PredicateKeyword.isPlainKey(name): text += name
    case .property(let name) where PredicateKeyword.isIdentifier(name): text += "#" + name
    case .property(let name):
      text += "#"
      writeQuoted(name)
    }
  }

  private mutating func write(_ index: FetchExpression.ElementIndex) {
    switch index {
    case .first: text += "[FIRST]"
    case .last: text += "[LAST]"
    case .size: text += "[SIZE]"
    case .at(let place):
      text += "["
      child(1) { $0.write(place) }
      text += "]"
    }
  }

  private mutating func write(_ operand: FetchExpression, castTo type: FetchExpression.CastType) {
    text += "CAST("
    // A constant in brackets is cast; one without brackets is a spelling of a value.
    child(0) { printer in
      if case .constant = operand { printer.writeBracketed(operand) } else { printer.write(operand) }
    }
    text += ", \"\(type.rawValue)\")"
  }
}

// MARK: Constants

extension PredicatePrinter {
  private mutating func write(_ value: PropertyValue) {
    switch value {
    case .null: text += "nil"
    case .integer(let number): text += String(number)
    case .boolean(let flag): text += flag ? "YES" : "NO"
    case .double(let number) where number.isFinite: text += NumberText.text(of: number)
    case .double(let number): writeCast(NumberText.text(of: number), "Double")
    case .string(let string): writeString(string)
    case .decimal(let number): writeCast(PropertyValue.decimal(number).text(of: .decimal) ?? "", "Decimal")
    case .float(let number): writeCast(NumberText.text(of: number), "Float")
    case .date(let date): write(date)
    case .binary(let data): writeCast(data.base64EncodedString(), "Data")
    case .uuid(let uuid): writeCast(uuid.uuidString, "UUID")
    case .uri(let url): writeCast(url.absoluteString, "URL")
    case .toOne(let id): writeCast(id.description, "ManagedObjectID")
    case .toMany(let ids): writeList(ids.map { .constant(.toOne($0)) }, "{", "}")
    }
  }

  private mutating func write(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds.isFinite, !hidesValues else { return writeCast(NumberText.text(of: seconds), "Date") }
    text += "CAST(\(NumberText.text(of: seconds)), \"Date\")"
  }

  private mutating func writeCast(_ value: String, _ type: String) {
    text += "CAST("
    writeString(value)
    text += ", \"\(type)\")"
  }

  private mutating func writeString(_ string: String) {
    if hidesValues { text += "\"…\"" } else { writeQuoted(string) }
  }

  private mutating func writeQuoted(_ string: String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
