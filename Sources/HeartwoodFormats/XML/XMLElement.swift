/// An element of an XML document, with all that is in it: for documents that are small enough to be held whole.
struct XMLElement: Sendable {
  /// The name, with its prefix where it has one.
  let name: String
  let attributes: [String: String]
  /// The line on which the start tag ends, from 1.
  let line: Int
  var children: [XMLElement] = []
  /// The text directly in the element, without that of its children.
  var text = ""
}

/// Why a text is no XML document that is read here.
struct XMLSyntaxError: Error, Hashable {
  let line: Int?
  let column: Int?
  let message: String
}
