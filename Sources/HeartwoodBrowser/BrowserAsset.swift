/// A static file of the page, which is the same for every store.
struct BrowserAsset {
  /// The media type.
  let type: String
  let text: String

  /// All assets, by the names of their files.
  static let all: [String: BrowserAsset] = Dictionary(
    uniqueKeysWithValues: texts.map { name, text in (name, BrowserAsset(type: type(of: name), text: text)) }
  )

  private static func type(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "text/javascript; charset=utf-8"
    }
  }
}
