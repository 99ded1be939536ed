/// An element of an XML document, with all that is in it: for documents that are small enough to be held whole.
struct XMLElement: Sendable {
  /// The name, with its prefix where it has one.
  let name: String
  var attributes: XMLAttributes
  /// The line on which the start tag ends, from 1; nil for an element that is not from a text.
  var line: Int?
  var children: [XMLElement] = []
  /// The text directly in the element, without that of its children.
  var text = ""

  init(_ name: String, _ attributes: XMLAttributes = [:], line: Int? = nil, children: [XMLElement] = []) {
    self.name = name
    self.attributes = attributes
    self.line = line
    self.children = children
  }
}

extension XMLElement: Equatable {
  /// Whether both say the same: the order of attributes, lines, and white space between elements do not count.
  static func == (left: XMLElement, right: XMLElement) -> Bool {
    left.name == right.name && left.attributes == right.attributes && left.children == right.children
      && left.significantText == right.significantText
  }

  /// The text, unless it is but the white space between elements.
  var significantText: String {
    children.isEmpty || text.contains { !$0.isWhitespace } ? text : ""
  }
}

/// Why a text is no XML document that is read here.
struct XMLSyntaxError: Error, Hashable {
  let line: Int?
  let column: Int?
  let message: String
}
