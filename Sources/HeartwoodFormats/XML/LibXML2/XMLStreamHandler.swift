import CLibXML2
import HeartwoodStore

/// Receives the content of a document while it is read. Subclasses process it.
///
/// An unsafe place: the arguments of libxml2 are valid for the length of the call and come with their length, or end
/// with a zero byte.
class XMLStreamHandler: XMLReceiver {
  let limits: XMLLimits
  let storeType: StoreType
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  @exclusivity(unchecked) private(set) var depth = 0
  /// The text of the element that is being read, if it is collected.
  let text = GrowableBytes()
  @exclusivity(unchecked) private var collectsText = false
  @exclusivity(unchecked) private var ignoresText = false
  /// The reason why the reader has stopped.
  private(set) var failure: PersistenceError?
  @exclusivity(unchecked) private(set) var isStopped = false
  private var context: xmlParserCtxtPtr?

  init(storeType: StoreType, limits: XMLLimits) {
    self.storeType = storeType
    self.limits = limits
  }

  /// Called before the first element. The names of the document may be looked up.
  func prepare(_ context: xmlParserCtxtPtr) {
    self.context = context
  }

  func begin(_ tag: XMLTag) {}

  /// Called at the end of an element; ``text`` contains its text if that was collected.
  func end() {}

  /// Collects the text from here on to the next tag.
  @inline(__always)
  final func collectText() {
    text.removeAll()
    collectsText = true
  }

  /// Ignores the text from here on to the next tag.
  final func ignoreText() {
    ignoresText = true
  }

  final var textBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(text.unsafeMutableBytes) }

  /// Skips the rest of the file.
  final func stop() {
    isStopped = true
    xmlStopParser(context)
  }

  final override func refuse(_ message: String) { fail(message) }

  final func fail(
    _ problem: String,
    recovery: PersistenceError.Recovery? = nil,
    code: PersistenceError.Code = .fileMalformed,
    entity: String? = nil,
    property: String? = nil
  ) {
    guard failure == nil, !isStopped else { return }
    failure = PersistenceError(
      code,
      problem,
      recovery: recovery,
      context: .init(
        line: context.map { Int(xmlSAX2GetLineNumber($0)) },
        column: context.map { Int(xmlSAX2GetColumnNumber($0)) },
        storeType: storeType,
        entity: entity,
        property: property
      )
    )
    stop()
  }
}

// MARK: What libxml2 calls

extension XMLStreamHandler {
  fileprivate func open(_ tag: XMLTag) {
    guard !isStopped else { return }
    depth += 1
    guard depth <= limits.nesting else { return fail("Elements are nested more than \(limits.nesting) deep.") }
    guard tag.attributeCount <= limits.attributeCount else {
      return fail("A tag has more than \(limits.attributeCount) attributes.")
    }
    (collectsText, ignoresText) = (false, false)
    begin(tag)
  }

  fileprivate func close() {
    guard !isStopped else { return }
    depth -= 1
    (collectsText, ignoresText) = (false, false)
    end()
  }

  @inline(__always)
  fileprivate func append(_ bytes: UnsafeRawBufferPointer) {
    if collectsText {
      guard bytes.count <= limits.textLength - text.count else {
        return fail("The text of an element has more than \(limits.textLength) bytes.")
      }
      text.append(bytes)
    } else if !ignoresText, !bytes.isBlank {
      fail("There is text where only elements belong.")
    }
  }

  /// The callbacks; the first argument of each is the handler.
  static var callbacks: xmlSAXHandler {
    var callbacks = refusals
    callbacks.startElementNs = { handler, name, prefix, _, _, _, count, _, attributes in
      guard let name else { return }
      let tag = XMLTag(name: name, prefix: prefix, attributeCount: Int(count), attributes: attributes)
      XMLReceiver.with(handler, as: XMLStreamHandler.self) { $0.open(tag) }
    }
    callbacks.endElementNs = { handler, _, _, _ in
      XMLReceiver.with(handler, as: XMLStreamHandler.self) { $0.close() }
    }
    callbacks.characters = { handler, text, count in
      let bytes = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : max(0, Int(count)))
      XMLReceiver.with(handler, as: XMLStreamHandler.self) { $0.append(bytes) }
    }
    callbacks.ignorableWhitespace = callbacks.characters
    callbacks.cdataBlock = callbacks.characters
    return callbacks
  }
}

// MARK: XMLTag

/// A start tag in libxml2's layout: valid for the length of the callback that receives it.
struct XMLTag {
  /// A name that libxml2 keeps once for the whole document, so that equal names are equal pointers.
  typealias Name = UnsafePointer<xmlChar>

  /// libxml2 gives five pointers for each attribute: name, prefix, namespace, and the ends of the value.
  private static let pointersPerAttribute = 5

  let name: Name
  private let prefix: Name?
  let attributeCount: Int
  private let attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?

  init(
    name: Name,
    prefix: Name?,
    attributeCount: Int,
    attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
  ) {
    self.name = name
    self.prefix = prefix
    self.attributeCount = attributes == nil ? 0 : max(0, attributeCount)
    self.attributes = attributes
  }

  var hasPrefix: Bool { prefix != nil }

  /// The name, with its prefix if it has one.
  var qualifiedName: String { Self.text(name, prefix) }

  /// Returns the name of an attribute, with its prefix if it has one.
  func qualifiedName(_ index: Int) -> String {
    guard let attributes else { return "" }
    let place = index * Self.pointersPerAttribute
    return Self.text(attributes[place], attributes[place + 1])
  }

  private static func text(_ name: Name?, _ prefix: Name?) -> String {
    let name = name.map { String(cString: $0) } ?? ""
    return prefix.map { String(cString: $0) + ":" + name } ?? name
  }

  /// Returns the name of an attribute, or nil if it has a prefix.
  @inline(__always)
  func name(_ index: Int) -> Name? {
    guard let attributes, attributes[index &* Self.pointersPerAttribute &+ 1] == nil else { return nil }
    return attributes[index &* Self.pointersPerAttribute]
  }

  @inline(__always)
  func value(_ index: Int) -> UnsafeRawBufferPointer {
    guard let attributes, let start = attributes[index &* Self.pointersPerAttribute &+ 3],
      let end = attributes[index &* Self.pointersPerAttribute &+ 4]
    else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(start: start, count: end - start)
  }
}

/// Names that a reader looks for, as the document's own pointers.
///
/// An unsafe place: ``addresses`` is written in `init` only, has ``count`` elements, and is freed in `deinit`.
final class XMLNames {
  private let addresses: UnsafeMutablePointer<XMLTag.Name?>
  private let count: Int

  /// Looks up `names`, and keeps their order.
  init(_ names: [String], _ context: xmlParserCtxtPtr) {
    count = names.count
    addresses = .allocate(capacity: max(1, names.count))
    for (index, name) in names.enumerated() {
      // The dictionary keeps names of such lengths for as long as the document is read.
      (addresses + index).initialize(to: xmlDictLookup(context.pointee.dict, name, Int32(name.utf8.count)))
    }
  }

  deinit {
    addresses.deinitialize(count: count)
    addresses.deallocate()
  }

  /// Returns the index of `name` among the names, or nil if it is none of them.
  @inline(__always)
  func index(of name: XMLTag.Name) -> Int? {
    var index = 0
    while index < count {
      if addresses[index] == name { return index }
      index &+= 1
    }
    return nil
  }
}

// MARK: XMLAttributes

/// The attributes of an element in the order of the document.
@_spi(CoreDataFiles)
public struct XMLAttributes: Sendable {
  /// The names and values, in the order of the document.
  public private(set) var items: [(name: String, value: String)] = []

  /// The names, in the order of the document.
  public var names: [String] { items.map(\.name) }

  /// The value of the attribute called `name`; setting nil removes it. O(n).
  public subscript(name: String) -> String? {
    get { items.first { $0.name == name }?.value }
    set {
      let place = items.firstIndex { $0.name == name }
      switch (place, newValue) {
      case (let place?, let value?): items[place].value = value
      case (let place?, nil): items.remove(at: place)
      case (nil, let value?): items.append((name, value))
      case (nil, nil): break
      }
    }
  }

  /// Adds an attribute whose name is known to be new. O(1).
  public mutating func append(_ name: String, _ value: String) {
    items.append((name, value))
  }
}

@_spi(CoreDataFiles)
extension XMLAttributes: Equatable {
  /// Returns whether both have the same attributes, in any order.
  public static func == (left: XMLAttributes, right: XMLAttributes) -> Bool {
    left.items.count == right.items.count
      && left.items.sorted { $0.name < $1.name }.elementsEqual(right.items.sorted { $0.name < $1.name }, by: ==)
  }
}

@_spi(CoreDataFiles)
extension XMLAttributes: ExpressibleByDictionaryLiteral {
  /// Makes a list of the attributes that have a value.
  public init(dictionaryLiteral elements: (String, String?)...) {
    items = elements.compactMap { name, value in value.map { (name, $0) } }
  }
}

// MARK: UnsafeRawBufferPointer: names

extension UnsafeRawBufferPointer {
  /// Returns whether both have the same bytes.
  @inline(__always)
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let base = baseAddress, let otherBase = other.baseAddress else { return true }
    guard count >= 8 else { return Self.haveSameBytes(base, otherBase, fewerThanEight: count) }
    // Names are short: they are compared in words from the beginning on, and one that ends with them.
    var offset = 0
    while offset < count &- 8 {
      if Self.word(base, offset) != Self.word(otherBase, offset) { return false }
      offset &+= 8
    }
    return Self.word(base, count &- 8) == Self.word(otherBase, count &- 8)
  }

  @inline(__always)
  private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  private static func haveSameBytes(
    _ base: UnsafeRawPointer,
    _ other: UnsafeRawPointer,
    fewerThanEight count: Int
  ) -> Bool {
    if count >= 4 {
      return base.loadUnaligned(as: UInt32.self) == other.loadUnaligned(as: UInt32.self)
        && base.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
          == other.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
    }
    for offset in 0..<count
    where base.load(fromByteOffset: offset, as: UInt8.self) != other.load(fromByteOffset: offset, as: UInt8.self) {
      return false
    }
    return true
  }

  /// Whether there are only blanks and control characters.
  @inline(__always)
  var isBlank: Bool {
    guard let base = baseAddress else { return true }
    var offset = 0
    while count &- offset >= 8 {
      // Adding 0x5F sets the highest bit of bytes above a space, as long as it is not set already.
      let word = Self.word(base, offset)
      if ((word & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x5F5F_5F5F_5F5F_5F5F | word) & 0x8080_8080_8080_8080 != 0 { return false }
      offset &+= 8
    }
    while offset < count {
      if base.load(fromByteOffset: offset, as: UInt8.self) > UInt8(ascii: " ") { return false }
      offset &+= 1
    }
    return true
  }
}
