import CLibXML2
import HeartwoodStore

/// What is told of a document while it is read. A subclass makes something of it.
///
/// An unsafe place: what libxml2 hands over is valid for the length of the call and comes with its length, or ends with a zero byte.
class XMLStreamHandler: XMLReceiver {
  let limits: XMLLimits
  let storeType: StoreType
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  @exclusivity(unchecked) private(set) var depth = 0
  /// The text of the element that is being read, where it is collected.
  let text = GrowableBytes()
  @exclusivity(unchecked) private var collectsText = false
  @exclusivity(unchecked) private var ignoresText = false
  /// Why the reader has stopped.
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

  /// The end of an element; ``text`` holds its text where that was collected.
  func end() {}

  /// Has the text from here on to the next tag collected.
  @inline(__always)
  final func collectText() {
    text.removeAll()
    collectsText = true
  }

  /// Has the text from here on to the next tag passed over.
  final func ignoreText() {
    ignoresText = true
  }

  final var textBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(text.unsafeMutableBytes) }

  /// Leaves the rest of the file unread.
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

  /// The calls; the first argument of each is the handler.
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
