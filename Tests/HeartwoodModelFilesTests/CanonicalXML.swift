import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// What an XML document says, by a parser that is not this project's: an element a line, attributes in order of their names.
enum CanonicalXML {
  static func lines(of data: Data) throws -> [String] {
    let collector = Collector()
    let parser = XMLParser(data: data)
    parser.delegate = collector
    try #require(parser.parse(), "\(String(describing: parser.parserError))")
    return collector.lines
  }

  private final class Collector: NSObject, XMLParserDelegate {
    var lines: [String] = []
    private var text = ""

    func parser(
      _ parser: XMLParser,
      didStartElement name: String,
      namespaceURI: String?,
      qualifiedName: String?,
      attributes: [String: String]
    ) {
      takeText()
      lines.append(
        "<\(name) " + attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "|")
      )
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
      takeText()
      lines.append("</\(name)")
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    private func takeText() {
      let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
      if !trimmed.isEmpty { lines.append(trimmed) }
      text = ""
    }
  }
}
