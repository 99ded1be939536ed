import CLibXML2

/// Makes a tree of what the parser reports.
///
/// The unsafe code is in the handler alone: every pointer that it gets is valid for the length of the call and comes with its
/// length, or ends with a zero byte.
final class XMLTreeBuilder {
  var context: xmlParserCtxtPtr?
  private(set) var root: XMLElement?
  private(set) var refusal: XMLSyntaxError?
  private var open: [XMLElement] = []

  fileprivate func begin(_ name: String, _ attributes: XMLAttributes) {
    guard open.count < XMLTreeParser.deepestNesting else {
      return refuse("Elements are nested more than \(XMLTreeParser.deepestNesting) deep.")
    }
    open.append(XMLElement(name, attributes, line: line))
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

  fileprivate func refuse(_ message: String) {
    if refusal == nil { refusal = XMLSyntaxError(line: line, column: nil, message: message) }
    xmlStopParser(context)
  }

  private var line: Int {
    Int(xmlSAX2GetLineNumber(context))
  }
}

extension XMLTreeBuilder {
  private static let declarationRefusal =
    "The document type declares entities or attributes. Take the declarations out: such documents are not read."

  /// What the parser calls; the first argument of each is the builder.
  static var handler: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    handler.startElementNs = { builder, name, prefix, _, _, _, count, _, attributes in
      let name = XMLTreeBuilder.qualified(name, prefix)
      XMLTreeBuilder.from(builder)?.begin(name, XMLTreeBuilder.attributes(attributes, count: Int(count)))
    }
    handler.endElementNs = { builder, _, _, _ in XMLTreeBuilder.from(builder)?.end() }
    handler.characters = { builder, text, count in
      XMLTreeBuilder.from(builder)?.append(XMLTreeBuilder.text(text, count: Int(count)))
    }
    handler.ignorableWhitespace = handler.characters
    handler.cdataBlock = handler.characters
    handler.entityDecl = { builder, _, _, _, _, _ in
      XMLTreeBuilder.from(builder)?.refuse(XMLTreeBuilder.declarationRefusal)
    }
    handler.attributeDecl = { builder, _, _, _, _, _, enumeration in
      xmlFreeEnumeration(enumeration)
      XMLTreeBuilder.from(builder)?.refuse(XMLTreeBuilder.declarationRefusal)
    }
    return handler
  }

  private static func from(_ pointer: UnsafeMutableRawPointer?) -> XMLTreeBuilder? {
    pointer.map { Unmanaged<XMLTreeBuilder>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func qualified(_ name: UnsafePointer<xmlChar>?, _ prefix: UnsafePointer<xmlChar>?) -> String {
    let name = name.map { String(cString: $0) } ?? ""
    return prefix.map { String(cString: $0) + ":" + name } ?? name
  }

  private static func text(_ start: UnsafePointer<xmlChar>?, count: Int) -> String {
    String(decoding: UnsafeBufferPointer(start: start, count: start == nil ? 0 : max(0, count)), as: UTF8.self)
  }

  /// The attributes, of which no two have one name. The parser gives five pointers for each: name, prefix, namespace, and the ends of the value.
  private static func attributes(
    _ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?,
    count: Int
  ) -> XMLAttributes {
    var attributes = XMLAttributes()
    guard let pointers else { return attributes }
    for number in 0..<max(0, count) {
      let fields = pointers + number * 5
      guard let start = fields[3], let end = fields[4] else { continue }
      attributes.append(qualified(fields[0], fields[1]), text(start, count: end - start))
    }
    return attributes
  }
}
