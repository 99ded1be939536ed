import CLibXML2
import HeartwoodFoundation
public import HeartwoodStore

/// Builds values from the elements of a property list in XML.
struct PropertyListElements {
  enum Word: Int, CaseIterable {
    case dict, array, key, string, integer, real, `true`, `false`, date, data

    var text: String { "\(self)" }

    /// Whether the element has text that is part of its value.
    var hasText: Bool {
      switch self {
      case .dict, .array, .true, .false: false
      case .key, .string, .integer, .real, .date, .data: true
      }
    }
  }

  private struct Container {
    var word: Word
    var members: [String: MetadataValue] = [:]
    var values: [MetadataValue] = []
    var key: String?
  }

  private var names: XMLNames?
  private var open: [Container] = []
  /// The element whose text is being read.
  private var leaf: Word?
  private(set) var root: MetadataValue?

  mutating func prepare(_ context: xmlParserCtxtPtr) {
    names = XMLNames(Word.allCases.map(\.text), context)
  }

  @inline(__always)
  func word(_ tag: XMLTag) -> Word? {
    tag.hasPrefix ? nil : names?.index(of: tag.name).flatMap { Word(rawValue: $0) }
  }

  /// Processes a start tag; returns the fault, if there is one.
  mutating func begin(_ tag: XMLTag, _ handler: XMLStreamHandler) -> String? {
    guard let word = word(tag) else {
      return "The element \(String(cString: tag.name)) does not belong in a property list."
    }
    return begin(word, handler)
  }

  mutating func begin(_ word: Word, _ handler: XMLStreamHandler) -> String? {
    if leaf != nil { return "An element of a property list is inside another that cannot contain elements." }
    if let container = open.last, container.word == .dict, (word == .key) == (container.key != nil) {
      return "In a dictionary, keys and values must alternate."
    }
    if word == .key, open.last?.word != .dict { return "A key is outside of a dictionary." }
    if root != nil { return "A property list has one element." }
    switch word {
    case .dict, .array: open.append(Container(word: word))
    default:
      leaf = word
      if word.hasText { handler.collectText() }
    }
    return nil
  }

  /// Processes an end tag; returns the fault, if there is one.
  mutating func end(_ text: UnsafeRawBufferPointer) -> String? {
    guard let word = leaf else { return endContainer() }
    leaf = nil
    if word == .key {
      let key = String(decoding: text, as: UTF8.self)
      guard open[open.count - 1].members[key] == nil else { return "A dictionary has the same key twice." }
      open[open.count - 1].key = key
      return nil
    }
    guard let value = PropertyListText.value(word, text) else {
      return "The text of the element \(word.text) is not a valid value."
    }
    return add(value)
  }

  private mutating func endContainer() -> String? {
    guard let container = open.popLast() else { return nil }
    guard container.key == nil else { return "A dictionary has a key without a value." }
    return add(container.word == .dict ? .dictionary(container.members) : .array(container.values))
  }

  private mutating func add(_ value: MetadataValue) -> String? {
    guard var container = open.popLast() else {
      root = PropertyListWrapping.unwrapped(value)
      return root == nil ? "A dictionary with a key that Heartwood reserves has the wrong form." : nil
    }
    if let key = container.key {
      container.members[key] = value
      container.key = nil
    } else {
      container.values.append(value)
    }
    open.append(container)
    return nil
  }
}

// MARK: PropertyListData

/// Reads and writes property lists that are stored in other files, as values.
@_spi(CoreDataFiles)
public enum PropertyListData {
  /// Returns the value of a property list, binary or XML. Nulls and references of archives are left out of arrays and
  /// dictionaries.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` with the place in `bytes` and the path of their file.
  public static func value(of bytes: [UInt8], path: String) throws(PersistenceError) -> MetadataValue {
    let value: ArchiveValue
    do {
      value = try ArchiveReader.value(of: bytes)
    } catch {
      let context = PersistenceError.Context(path: path, line: error.line, byteOffset: error.offset)
      throw PersistenceError(.fileMalformed, error.message, context: context)
    }
    guard let value = value.metadata else {
      throw PersistenceError(.fileMalformed, "The property list is empty.", context: .init(path: path))
    }
    return value
  }

  /// Returns a binary property list of a value, the same bytes for the same value.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if ``value(of:path:)`` would refuse it: for its depth, or for
  ///   its size.
  public static func binary(_ value: MetadataValue) throws(PersistenceError) -> [UInt8] {
    // The depth is checked first: counting values of unlimited depth would overflow the stack.
    guard value.hasLevels(atMost: ArchiveValue.deepestNesting) else {
      throw unsupported("are nested more than \(ArchiveValue.deepestNesting) deep.", recovery: "Make them flatter.")
    }
    let count = PropertyListObjects.count(value)
    guard count < ArchiveValue.mostValues else {
      let problem = "have \(ArchiveValue.mostValues) values or more, keys included."
      throw unsupported(problem, recovery: "Keep less in them.")
    }
    let width = PropertyListObjectBuffer.referenceWidth(count)
    var buffer = PropertyListObjectBuffer(firstNumber: 0, referenceWidth: width, capacity: 1 << 12)
    let root = PropertyListObjects.append(value, wraps: false, to: &buffer)
    return file(buffer.sealed(), root: root, referenceWidth: width)
  }

  private static func unsupported(_ reason: String, recovery: PersistenceError.Recovery) -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "The metadata could not be read again, because they \(reason)",
      recovery: recovery
    )
  }

  /// Returns a whole binary property list of all its objects.
  static func file(_ block: PropertyListObjectBuffer.Block, root: Int, referenceWidth: Int) -> [UInt8] {
    let header = Array(PropertyListFormat.binaryHeader.utf8)
    let tableOffset = header.count + block.bytes.count
    let table = BinaryPropertyListWriter.table(
      block.offsets,
      movedBy: header.count,
      width: PropertyListObjectBuffer.referenceWidth(tableOffset)
    )
    let trailer = BinaryPropertyListWriter.trailer(
      count: block.offsets.count / 4,
      root: root,
      tableOffset: tableOffset,
      referenceWidth: referenceWidth
    )
    return header + [block.bytes, table, trailer].flatMap { Array($0.unsafeBytes) }
  }
}

extension MetadataValue {
  /// Returns whether values are nested at most so deep, this one included.
  fileprivate func hasLevels(atMost count: Int) -> Bool {
    guard count > 0 else { return false }
    switch self {
    case .array(let values): return values.allSatisfy { $0.hasLevels(atMost: count - 1) }
    case .dictionary(let members): return members.values.allSatisfy { $0.hasLevels(atMost: count - 1) }
    default: return true
    }
  }
}

extension ArchiveValue {
  fileprivate var metadata: MetadataValue? {
    switch self {
    case .null, .reference: nil
    case .boolean(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .date(let date): .date(date)
    case .string(let text): .string(text)
    case .data(let data): .binary(data)
    case .array(let values): .array(values.compactMap(\.metadata))
    case .dictionary(let members): .dictionary(members.compactMapValues(\.metadata))
    }
  }
}
