/// An element of a model file, which knows how to read its attributes and how to complain about them.
struct DataModelElement {
  let xml: XMLElement
  let file: String

  var line: Int? { xml.line }

  func children(_ name: String) -> [DataModelElement] {
    xml.children.filter { $0.name == name }.map { DataModelElement(xml: $0, file: file) }
  }

  /// The text of an attribute; nil where it is not there.
  func text(_ attribute: String) -> String? {
    xml.attributes[attribute]
  }

  /// The text of an attribute; nil where it is not there or empty, which means the same in most places.
  func filledText(_ attribute: String) -> String? {
    xml.attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
  }

  func requiredText(_ attribute: String) throws(ModelFileError) -> String {
    guard let text = filledText(attribute) else {
      throw error("The element “\(xml.name)” has no “\(attribute)”. Add it.")
    }
    return text
  }

  /// A flag that has its usual value where it is not there.
  func flag(_ attribute: String, usually usual: Bool = false) throws(ModelFileError) -> Bool {
    switch text(attribute) {
    case nil: return usual
    case "NO", "false": return false
    case "YES", "true": return true
    case .some: throw error("“\(attribute)” is neither YES nor NO. Write one of them.")
    }
  }

  func number(_ attribute: String) throws(ModelFileError) -> Int? {
    guard let text = text(attribute) else { return nil }
    guard let number = Int(text) else { throw error("“\(attribute)” is no whole number. Write one.") }
    return number
  }

  func error(_ message: String) -> ModelFileError {
    ModelFileError(file: file, line: line, message)
  }
}
