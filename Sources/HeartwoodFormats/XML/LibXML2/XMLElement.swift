import CLibXML2
public import HeartwoodStore

/// An element of an XML document, with everything in it: for documents that are small enough to be kept in memory.
@_spi(CoreDataFiles)
public struct XMLElement: Sendable {
  /// The name, with its prefix if it has one.
  public let name: String
  /// The attributes, in the order of the document.
  public var attributes: XMLAttributes
  /// The line on which the start tag ends, from 1; nil for an element that was not read from a text.
  public var line: Int?
  /// The elements in it, in the order of the document.
  public var children: [XMLElement] = []
  /// The text directly in the element, without that of its children.
  public var text = ""

  /// Creates an element without text.
  public init(_ name: String, _ attributes: XMLAttributes = [:], line: Int? = nil, children: [XMLElement] = []) {
    self.name = name
    self.attributes = attributes
    self.line = line
    self.children = children
  }
}

@_spi(CoreDataFiles)
extension XMLElement: Equatable {
  /// Returns whether both have the same content: the order of attributes, lines, and white space between elements are
  /// ignored.
  public static func == (left: XMLElement, right: XMLElement) -> Bool {
    left.name == right.name && left.attributes == right.attributes && left.children == right.children
      && left.significantText == right.significantText
  }

  /// The text; empty if it is only white space between elements.
  public var significantText: String {
    children.isEmpty || text.contains { !$0.isWhitespace } ? text : ""
  }
}

/// The reason why a text is not an XML document that can be read.
@_spi(CoreDataFiles)
public struct XMLSyntaxError: Error, Hashable {
  /// The line of the error, from 1; nil if it is unknown.
  public let line: Int?
  /// The column of the error, from 1; nil if it is unknown.
  public let column: Int?
  /// The reason, as libxml2 or the limits of this parser state it.
  public let message: String
}

// MARK: XMLTreeBuilder

/// Makes a tree from the parser's callbacks.
///
/// The unsafe code is in the callbacks alone: every pointer that they get is valid for the length of the call and comes
/// with its length, or ends with a zero byte.
final class XMLTreeBuilder: XMLReceiver {
  var context: xmlParserCtxtPtr?
  private(set) var root: XMLElement?
  private(set) var refusal: XMLSyntaxError?
  private var open: [XMLElement] = []

  fileprivate func begin(_ tag: XMLTag) {
    guard open.count < XMLTreeParser.deepestNesting else {
      return refuse("Elements are nested more than \(XMLTreeParser.deepestNesting) deep.")
    }
    var attributes = XMLAttributes()
    // No two attributes have one name: the document would not be well-formed.
    for index in 0..<tag.attributeCount {
      attributes.append(tag.qualifiedName(index), String(decoding: tag.value(index), as: UTF8.self))
    }
    open.append(XMLElement(tag.qualifiedName, attributes, line: line))
  }

  fileprivate func end() {
    guard let element = open.popLast() else { return }
    if open.isEmpty {
      root = element
    } else {
      open[open.count - 1].children.append(element)
    }
  }

  fileprivate func append(_ text: String) {
    if !open.isEmpty { open[open.count - 1].text += text }
  }

  override func refuse(_ message: String) {
    if refusal == nil { refusal = XMLSyntaxError(line: line, column: nil, message: message) }
    xmlStopParser(context)
  }

  private var line: Int {
    Int(xmlSAX2GetLineNumber(context))
  }
}

extension XMLTreeBuilder {
  /// The callbacks; the first argument of each is the builder.
  static var callbacks: xmlSAXHandler {
    var callbacks = refusals
    callbacks.startElementNs = { builder, name, prefix, _, _, _, count, _, attributes in
      guard let name else { return }
      let tag = XMLTag(name: name, prefix: prefix, attributeCount: Int(count), attributes: attributes)
      XMLReceiver.with(builder, as: XMLTreeBuilder.self) { $0.begin(tag) }
    }
    callbacks.endElementNs = { builder, _, _, _ in
      XMLReceiver.with(builder, as: XMLTreeBuilder.self) { $0.end() }
    }
    callbacks.characters = { builder, text, count in
      let bytes = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : max(0, Int(count)))
      XMLReceiver.with(builder, as: XMLTreeBuilder.self) { $0.append(String(decoding: bytes, as: UTF8.self)) }
    }
    callbacks.ignorableWhitespace = callbacks.characters
    callbacks.cdataBlock = callbacks.characters
    return callbacks
  }
}

// MARK: XMLTreeParser

/// Reads XML documents into trees of ``XMLElement``.
///
/// Only the given bytes are read: no network, no document type, and a document that declares or uses entities of its
/// own, or declares default attributes, is refused. So a small document cannot grow into a large one.
@_spi(CoreDataFiles)
public struct XMLTreeParser {
  /// The greatest depth of nested elements; deeper documents are refused, so that functions over a tree may be
  /// recursive.
  static let deepestNesting = 100
  /// The greatest length of a document, in bytes.
  static let longestDocument = 64 << 20

  /// The greatest distance between two `<`, in bytes. The time that libxml2 takes for a tag grows with the square of
  /// its attributes.
  static let longestTag = 64 << 10

  /// Reads a document of at most 64 MB.
  ///
  /// - Throws: ``XMLSyntaxError`` for bytes that are no well-formed document, and for one that exceeds a limit.
  public static func parse(_ bytes: [UInt8]) throws(XMLSyntaxError) -> XMLElement {
    guard bytes.count <= longestDocument, let count = Int32(exactly: bytes.count) else {
      let message = "The document is longer than \(longestDocument >> 20) MB, which is the limit."
      throw XMLSyntaxError(line: nil, column: nil, message: message)
    }
    try checkTags(bytes)
    XMLLibrary.prepare()
    let builder = XMLTreeBuilder()
    var callbacks = XMLTreeBuilder.callbacks
    // The parser keeps the pointer to the builder, which outlives it: it is freed before this function ends.
    let context = xmlCreatePushParserCtxt(&callbacks, Unmanaged.passUnretained(builder).toOpaque(), nil, 0, nil)
    guard let context else { throw XMLSyntaxError(line: nil, column: nil, message: "There is no memory for a parser.") }
    defer { release(context) }
    builder.context = context
    xmlCtxtUseOptions(context, options)
    // The bytes are borrowed for the length of the call, which parses all of them.
    bytes.withUnsafeBytes { buffer in
      _ = xmlParseChunk(context, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count, 1)
    }
    return try result(of: builder, context)
  }

  private static func checkTags(_ bytes: [UInt8]) throws(XMLSyntaxError) {
    var (start, line) = (0, 1)
    for (place, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "<"): start = place
      case UInt8(ascii: "\n"): line += 1
      default: break
      }
      guard place - start <= longestTag else {
        let message = "A tag and the text after it are longer than \(longestTag >> 10) KB, which is the limit."
        throw XMLSyntaxError(line: line, column: nil, message: message)
      }
    }
  }

  /// Entities are substituted because only the five predefined ones are left; no error is printed.
  private static let options = [XML_PARSE_NONET, XML_PARSE_NOENT, XML_PARSE_NOERROR, XML_PARSE_NOWARNING]
    .reduce(Int32(0)) { $0 | Int32(truncatingIfNeeded: $1.rawValue) }

  private static func release(_ context: xmlParserCtxtPtr) {
    if let document = context.pointee.myDoc { xmlFreeDoc(document) }
    context.pointee.myDoc = nil
    xmlFreeParserCtxt(context)
  }

  private static func result(
    of builder: XMLTreeBuilder,
    _ context: xmlParserCtxtPtr
  ) throws(XMLSyntaxError) -> XMLElement {
    if let refusal = builder.refusal { throw refusal }
    if context.pointee.wellFormed == 1, let root = builder.root { return root }
    guard let error = xmlCtxtGetLastError(context), let message = error.pointee.message else {
      throw XMLSyntaxError(line: nil, column: nil, message: "The document is empty.")
    }
    let text = String(cString: message).split(whereSeparator: \.isNewline).joined(separator: " ")
    let (line, column) = (Int(error.pointee.line), Int(error.pointee.int2))
    throw XMLSyntaxError(line: line > 0 ? line : nil, column: column > 0 ? column : nil, message: text)
  }
}

// MARK: XMLLimits

extension StoreOptionKey<Int> {
  /// The greatest depth of nested elements in an XML file; 64 by default. Deeper files are refused.
  public static let xmlNestingLimit = StoreOptionKey("xmlNestingLimit", default: 64)
  /// The greatest number of bytes in the text of one element of an XML file; 4 GiB by default.
  public static let xmlTextLimit = StoreOptionKey("xmlTextLimit", default: 1 << 32)
  /// The greatest number of attributes in one tag of an XML file; 64 by default.
  public static let xmlAttributeLimit = StoreOptionKey("xmlAttributeLimit", default: 64)
}

/// The limits of an XML file that is read.
struct XMLLimits: Sendable {
  var nesting: Int
  var textLength: Int
  var attributeCount: Int

  /// The number of bytes of one tag that are accepted without examining them. The time that libxml2 takes for a tag
  /// grows with the square of its attributes, so for longer tags the attributes are counted before it gets the end.
  static let unquestionedTagLength = 1 << 16

  init(_ options: StoreOptions = StoreOptions()) {
    nesting = max(1, options[.xmlNestingLimit])
    textLength = max(0, options[.xmlTextLimit])
    attributeCount = max(1, options[.xmlAttributeLimit])
  }
}
