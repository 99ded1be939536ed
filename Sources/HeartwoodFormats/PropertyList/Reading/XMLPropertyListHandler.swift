import CLibXML2
import HeartwoodModel
import HeartwoodStore

/// Reads the parts of a property list in XML other than its records. A subclass reads the records too.
class XMLPropertyListHandler: XMLStreamHandler {
  private enum Place {
    /// Before the element plist, in it, and in the dictionary that is its content.
    case document, plist, root
    /// In the value of a key of the root.
    case value(key: String)
    case records
    case end
  }

  private(set) var header = PropertyListHeader()
  private var place = Place.document
  private var key: String?
  private var isReadingKey = false
  private var elements = PropertyListElements()
  private var plistName: XMLNames?
  private var context: xmlParserCtxtPtr?
  /// Whether the records are skipped, and the reader stops after the other parts.
  private let readsHeaderOnly: Bool

  /// The number of elements that are open around the value of a key of the root.
  private static let rootDepth = 2

  init(limits: XMLLimits, readsHeaderOnly: Bool) {
    self.readsHeaderOnly = readsHeaderOnly
    super.init(storeType: .propertyList, limits: limits)
  }

  override func prepare(_ context: xmlParserCtxtPtr) {
    super.prepare(context)
    self.context = context
    elements.prepare(context)
    plistName = XMLNames(["plist"], context)
  }

  // MARK: For subclasses

  @inline(__always)
  final func word(_ tag: XMLTag) -> PropertyListElements.Word? { elements.word(tag) }

  /// Called for an element in the value of the key of records, that value itself included.
  func beginRecords(_ tag: XMLTag) {}

  /// Called for the end of an element in the value of the key of records.
  func endRecords() {}

  // MARK: Elements

  final override func begin(_ tag: XMLTag) {
    switch place {
    case .records: beginInRecords(tag)
    case .value: note(elements.begin(tag, self))
    case .root: beginInRoot(tag)
    case .document:
      guard !tag.hasPrefix, plistName?.index(of: tag.name) != nil else {
        return fail("The file is not a property list: its first element is not plist.")
      }
      place = .plist
    case .plist:
      guard word(tag) == .dict else { return fail("The property list is not a store: it is not a dictionary.") }
      place = .root
    case .end: fail("A property list has one element.")
    }
  }

  private func beginInRecords(_ tag: XMLTag) {
    // When only the header is read, all values of records are skipped.
    if readsHeaderOnly { ignoreText() } else { beginRecords(tag) }
  }

  private func beginInRoot(_ tag: XMLTag) {
    if isReadingKey { return fail("A key holds an element.") }
    guard let key else {
      guard word(tag) == .key else { return fail("In a dictionary, keys and values must alternate.") }
      isReadingKey = true
      return collectText()
    }
    if key == PropertyListFormat.recordsKey {
      place = .records
      return beginInRecords(tag)
    }
    place = .value(key: key)
    elements = PropertyListElements()
    if let context { elements.prepare(context) }
    note(elements.begin(tag, self))
  }

  final override func end() {
    switch place {
    case .records:
      if !readsHeaderOnly { endRecords() }
      if depth == Self.rootDepth { finishValue() }
    case .value(let key):
      note(elements.end(textBytes))
      if depth == Self.rootDepth { take(elements.root, key) }
    case .root: endInRoot()
    case .plist: fail("The property list is empty.")
    case .document, .end: break
    }
  }

  private func endInRoot() {
    guard isReadingKey else {
      if key != nil { return fail("A dictionary has a key without a value.") }
      place = .end
      return
    }
    isReadingKey = false
    let name = String(decoding: textBytes, as: UTF8.self)
    guard seenKeys.insert(name).inserted else { return fail("A dictionary has the same key twice.") }
    guard PropertyListFormat.rootKeys.contains(name) else {
      return fail("The property list is not a store, or it has a key that no store has.")
    }
    key = name
  }

  private var seenKeys: Set<String> = []

  private func take(_ value: MetadataValue?, _ key: String) {
    switch key {
    case PropertyListFormat.versionKey: header.version = value
    case PropertyListFormat.metadataKey: header.metadata = value
    case PropertyListFormat.modelKey: header.model = value
    default: break
    }
    finishValue()
    if readsHeaderOnly, header.version != nil, header.metadata != nil, header.model != nil { stop() }
  }

  private func finishValue() {
    key = nil
    place = .root
  }

  final func note(_ fault: String?) {
    if let fault { fail(fault) }
  }
}
