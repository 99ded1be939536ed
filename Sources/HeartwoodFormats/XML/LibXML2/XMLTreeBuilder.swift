import CLibXML2

/// Makes a tree of what the parser reports.
///
/// The unsafe code is in the callbacks alone: every pointer that they get is valid for the length of the call and comes with its
/// length, or ends with a zero byte.
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
    // No two have one name: then the document is not well-formed.
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
  /// The calls; the first argument of each is the builder.
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
