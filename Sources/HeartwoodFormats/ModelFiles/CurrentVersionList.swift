#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The property list that says which version of a model is the current one.
struct CurrentVersionList {
  /// The name of the folder of the current version, or nil where the list names none.
  let versionName: String?

  init(_ url: URL) throws(ModelFileError) {
    let bytes = try DataModelBundle.bytes(of: url)
    guard !bytes.starts(with: "bplist".utf8) else {
      let advice = "Convert it to XML with `plutil -convert xml1`, or name the version to read."
      throw ModelFileError(file: url.path, "This property list is binary. \(advice)")
    }
    let root: XMLElement
    do {
      root = try XMLTreeParser.parse(bytes)
    } catch {
      throw ModelFileError(file: url.path, error)
    }
    self.versionName = try Self.versionName(in: root, of: url)
  }

  private static func versionName(in root: XMLElement, of url: URL) throws(ModelFileError) -> String? {
    guard root.name == "plist", let dictionary = root.children.first, dictionary.name == "dict" else {
      throw ModelFileError(file: url.path, line: root.line, "This is no property list with a dictionary in it.")
    }
    let items = dictionary.children
    guard let key = items.firstIndex(where: { $0.name == "key" && $0.text == "_XCCurrentVersionName" }) else {
      return nil
    }
    guard items.indices.contains(key + 1), items[key + 1].name == "string" else {
      throw ModelFileError(file: url.path, line: items[key].line, "The name of the current version is no string.")
    }
    return items[key + 1].text
  }
}
