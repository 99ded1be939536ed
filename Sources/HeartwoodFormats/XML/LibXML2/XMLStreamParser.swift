import CLibXML2
import HeartwoodStore

/// Reads an XML file in pieces and passes its content to a handler, so that memory does not grow with the file.
///
/// An unsafe place: the pieces are read into memory that is held while they are parsed, and all of it that is parsed
/// has been read.
///
/// Only the bytes of the file are read: no network, no document type, and a file that declares or uses entities of its
/// own is refused. So a small file cannot grow into a large one.
struct XMLStreamParser {
  /// Small enough that a tag which has not ended within a piece is noticed soon.
  private static let chunkSize = 1 << 16
  /// With this number of attributes, the time for a tag is still negligible.
  private static let unquestionedAttributeCount = 1000

  let file: StoreInput

  /// Reads the file until its end or until `handler` stops.
  ///
  /// - Throws: the error of the handler, or ``PersistenceError/Code/fileMalformed`` with line and column.
  func parse(_ handler: XMLStreamHandler) throws(PersistenceError) {
    XMLLibrary.prepare()
    var callbacks = XMLStreamHandler.callbacks
    // The parser keeps the pointer to the handler, which the caller holds until this function has ended.
    let user = Unmanaged.passUnretained(handler).toOpaque()
    guard let context = xmlCreatePushParserCtxt(&callbacks, user, nil, 0, nil) else {
      throw PersistenceError(.fileReadFailed, "There is no memory for an XML parser.", context: .init(path: file.path))
    }
    defer { Self.release(context) }
    xmlCtxtUseOptions(context, Self.options)
    handler.prepare(context)
    do throws(PersistenceError) {
      try feed(context, handler)
    } catch {
      throw error.locating(path: file.path, storeType: handler.storeType)
    }
    withExtendedLifetime(handler) {}
  }

  private func feed(_ context: xmlParserCtxtPtr, _ handler: XMLStreamHandler) throws(PersistenceError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 1)
    defer { buffer.deallocate() }
    var position = 0
    var pendingAttributes = 0
    while position < file.size {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, file.size - position)])
      let count = try file.file.read(into: room, at: position)
      guard count > 0 else { throw cutShort }
      position += count
      let bytes = UnsafeRawBufferPointer(rebasing: room[..<count])
      parse(bytes, isLast: false, context)
      if try isFinished(context, handler) { return }
      try checkPending(bytes, &pendingAttributes, context, handler)
    }
    parse(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, context)
    if try isFinished(context, handler) { return }
  }

  /// The bytes are borrowed for the length of the call, which copies what it does not parse at once.
  private func parse(_ bytes: UnsafeRawBufferPointer, isLast: Bool, _ context: xmlParserCtxtPtr) {
    let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    _ = xmlParseChunk(context, start, Int32(truncatingIfNeeded: bytes.count), isLast ? 1 : 0)
  }

  /// Returns whether the handler has stopped.
  private func isFinished(_ context: xmlParserCtxtPtr, _ handler: XMLStreamHandler) throws(PersistenceError) -> Bool {
    if let failure = handler.failure { throw failure }
    if handler.isStopped { return true }
    if context.pointee.wellFormed == 0 { throw syntaxError(context) }
    // If bytes do not belong to the encoding, the library stops without reporting that the document is ill-formed.
    if context.pointee.disableSAX != 0 { throw encodingError(context) }
    return false
  }

  private func encodingError(_ context: xmlParserCtxtPtr) -> PersistenceError {
    let line = Int(xmlSAX2GetLineNumber(context))
    return PersistenceError(
      .fileMalformed,
      "The file is not well-formed XML: it has bytes that are not of its encoding.",
      context: .init(line: line > 0 ? line : nil)
    )
  }

  private func syntaxError(_ context: xmlParserCtxtPtr) -> PersistenceError {
    guard let error = xmlCtxtGetLastError(context), let message = error.pointee.message else {
      return PersistenceError(.fileMalformed, "The file is not an XML document.")
    }
    let text = String(cString: message).split(whereSeparator: \.isNewline).joined(separator: " ")
    let (line, column) = (Int(error.pointee.line), Int(error.pointee.int2))
    return PersistenceError(
      .fileMalformed,
      "The file is not well-formed XML: \(text)",
      context: .init(line: line > 0 ? line : nil, column: column > 0 ? column : nil)
    )
  }

  private var cutShort: PersistenceError {
    PersistenceError(.fileChangedOnDisk, "The file was cut short while it was read.", context: .init(path: file.path))
  }

  /// Refuses a long tag with too many attributes before the parser gets its end.
  ///
  /// - Parameter count: the number of signs of attributes since the tag became long.
  private func checkPending(
    _ bytes: UnsafeRawBufferPointer,
    _ count: inout Int,
    _ context: xmlParserCtxtPtr,
    _ handler: XMLStreamHandler
  ) throws(PersistenceError) {
    guard let input = context.pointee.input, let start = input.pointee.cur, let end = input.pointee.end,
      end - start > XMLLimits.unquestionedTagLength
    else {
      count = 0
      return
    }
    count += bytes.count { $0 == UInt8(ascii: "=") }
    guard count > max(Self.unquestionedAttributeCount, handler.limits.attributeCount) else { return }
    throw PersistenceError(
      .fileMalformed,
      "A tag has more than \(handler.limits.attributeCount) attributes.",
      context: .init(line: Int(xmlSAX2GetLineNumber(context)))
    )
  }

  /// Long texts and long lists of references are limited by ``XMLLimits`` and not by the library.
  private static let options = [XML_PARSE_NONET, XML_PARSE_NOERROR, XML_PARSE_NOWARNING, XML_PARSE_HUGE]
    .reduce(Int32(0)) { $0 | Int32(truncatingIfNeeded: $1.rawValue) }

  private static func release(_ context: xmlParserCtxtPtr) {
    if let document = context.pointee.myDoc { xmlFreeDoc(document) }
    context.pointee.myDoc = nil
    xmlFreeParserCtxt(context)
  }
}

/// Initializes libxml2.
enum XMLLibrary {
  private static let isReady: Void = xmlInitParser()

  /// Must be called before the first use from several threads.
  static func prepare() { _ = isReady }
}

// MARK: XMLReceiver

/// Receives callbacks of libxml2 for a document. Subclasses add the ones that they need; documents for which those here
/// are called are refused.
///
/// An unsafe place: the first argument of each call is the receiver, which outlives the parser.
class XMLReceiver {
  private static let declarations =
    "The document type declares entities or attributes. Take the declarations out: such files are not read."

  /// Skips the rest of the document, for the given reason.
  func refuse(_ message: String) {}

  /// The callbacks for documents that declare or use entities, or declare attributes.
  static var refusals: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    handler.reference = { receiver, _ in
      XMLReceiver.with(receiver, as: XMLReceiver.self) {
        $0.refuse("The file refers to an entity. Entities are not expanded: take it out.")
      }
    }
    handler.entityDecl = { receiver, _, _, _, _, _ in
      XMLReceiver.with(receiver, as: XMLReceiver.self) { $0.refuse(XMLReceiver.declarations) }
    }
    handler.unparsedEntityDecl = { receiver, _, _, _, _ in
      XMLReceiver.with(receiver, as: XMLReceiver.self) { $0.refuse(XMLReceiver.declarations) }
    }
    handler.attributeDecl = { receiver, _, _, _, _, _, enumeration in
      xmlFreeEnumeration(enumeration)
      XMLReceiver.with(receiver, as: XMLReceiver.self) { $0.refuse(XMLReceiver.declarations) }
    }
    return handler
  }

  /// Calls the receiver without counting references: the parser's caller holds it.
  @inline(__always)
  static func with<Receiver: XMLReceiver>(
    _ pointer: UnsafeMutableRawPointer?,
    as type: Receiver.Type,
    _ body: (Receiver) -> Void
  ) {
    guard let pointer else { return }
    Unmanaged<Receiver>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body($0) }
  }
}
