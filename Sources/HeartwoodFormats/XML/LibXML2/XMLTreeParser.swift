import CLibXML2

/// Reads XML documents into trees of ``XMLElement``.
///
/// Nothing but the bytes at hand is read: no network, no document type, and a document that declares or uses entities of its
/// own, or declares default attributes, is refused. So a small document cannot grow into a large one.
struct XMLTreeParser {
  /// How deep elements may be nested; deeper documents are refused, so that a walk over a tree may recurse.
  static let deepestNesting = 100
  /// How long a document may be, in bytes.
  static let longestDocument = 64 << 20

  /// How far apart two `<` may be, in bytes. The time that libxml2 takes for a tag grows with the square of its attributes.
  static let longestTag = 64 << 10

  static func parse(_ bytes: [UInt8]) throws(XMLSyntaxError) -> XMLElement {
    guard bytes.count <= longestDocument, let count = Int32(exactly: bytes.count) else {
      let message = "The document is longer than \(longestDocument >> 20) MB, which is as much as is read."
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
        let message = "A tag and the text after it are longer than \(longestTag >> 10) KB, which is as much as is read."
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
