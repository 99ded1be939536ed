import CLibXML2
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The elements of a property list in XML, put together to values.
struct PropertyListElements {
  enum Word: Int, CaseIterable {
    case dict, array, key, string, integer, real, `true`, `false`, date, data

    var text: String { "\(self)" }

    /// Whether the element has text that counts.
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

  /// Takes a start tag; returns what is wrong, where something is.
  mutating func begin(_ tag: XMLTag, _ handler: XMLStreamHandler) -> String? {
    guard let word = word(tag) else {
      return "The element \(String(cString: tag.name)) does not belong into a property list."
    }
    return begin(word, handler)
  }

  mutating func begin(_ word: Word, _ handler: XMLStreamHandler) -> String? {
    if leaf != nil { return "An element of a property list stands inside another that holds none." }
    if let container = open.last, container.word == .dict, (word == .key) == (container.key != nil) {
      return "In a dictionary, keys and values must take turns."
    }
    if word == .key, open.last?.word != .dict { return "A key stands outside of a dictionary." }
    if root != nil { return "A property list has one element." }
    switch word {
    case .dict, .array: open.append(Container(word: word))
    default:
      leaf = word
      if word.hasText { handler.collectText() }
    }
    return nil
  }

  /// Takes an end tag; returns what is wrong, where something is.
  mutating func end(_ text: UnsafeRawBufferPointer) -> String? {
    guard let word = leaf else { return endContainer() }
    leaf = nil
    if word == .key {
      let key = String(decoding: text, as: UTF8.self)
      guard open[open.count - 1].members[key] == nil else { return "A dictionary has the same key twice." }
      open[open.count - 1].key = key
      return nil
    }
    guard let value = PropertyListText.value(word, text) else { return "The text of the element \(word.text) is none." }
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
      return root == nil ? "A dictionary with a key of Heartwood's own does not keep to its form." : nil
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
