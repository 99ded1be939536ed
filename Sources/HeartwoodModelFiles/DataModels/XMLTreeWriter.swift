@_spi(CoreDataFiles) import HeartwoodFormats

/// Writes a tree of elements in the layout of Xcode's files: one element per line, indented by four spaces per level.
struct XMLTreeWriter {
  private static let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
  private static let indentation = "    "

  private var text = XMLTreeWriter.declaration
  /// The position of the first character that XML cannot represent.
  private var gap: String?

  /// Returns the document with the outermost element `root`.
  ///
  /// - Parameter file: the name of the document in errors.
  static func text(_ root: XMLElement, of file: String) throws(ModelFileError) -> String {
    var writer = XMLTreeWriter()
    writer.write(root, depth: 0)
    if let gap = writer.gap {
      throw ModelFileError(file: file, "XML cannot contain the control character that is in \(gap). Remove it.")
    }
    return writer.text
  }

  private mutating func write(_ element: XMLElement, depth: Int) {
    text += String(repeating: Self.indentation, count: depth) + "<" + element.name
    for attribute in element.attributes.items {
      text += " " + attribute.name + "=\"" + Self.escaped(attribute.value, isAttribute: true) + "\""
      check(attribute.value) { "\(attribute.name) of \(Self.description(of: element))" }
    }
    check(element.significantText) { "the text of \(Self.description(of: element))" }
    let content = Self.escaped(element.significantText, isAttribute: false)
    if element.children.isEmpty {
      text += content.isEmpty ? "/>\n" : ">" + content + "</" + element.name + ">\n"
      return
    }
    text += ">" + content + "\n"
    for child in element.children { write(child, depth: depth + 1) }
    text += String(repeating: Self.indentation, count: depth) + "</" + element.name + ">\n"
  }

  private mutating func check(_ text: String, _ place: () -> String) {
    if gap == nil, !PropertyListEscapes.canHold(text) { gap = place() }
  }

  private static func description(of element: XMLElement) -> String {
    (element.attributes["name"] ?? element.attributes["key"]).map { "\(element.name) “\($0)”" } ?? element.name
  }

  /// Returns `text` with escapes. In attributes, line endings are escaped, too, because parsers replace them by spaces.
  private static func escaped(_ text: String, isAttribute: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"" where isAttribute: result += "&quot;"
      case "\n" where isAttribute: result += "&#10;"
      case "\t" where isAttribute: result += "&#9;"
      case "\r": result += "&#13;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
