@_spi(CoreDataFiles) import HeartwoodFormats
public import HeartwoodFoundation

/// The texts of a model in one language, from a `.strings` file in Xcode's format.
///
///     if let texts = try ModelLocalization(forModelAt: url, languages: Locale.preferredLanguages) {
///       model = model.localized(by: texts.dictionary)
///     }
public struct ModelLocalization: Sendable, Hashable {
  /// The texts by key, for `ManagedObjectModel.localized(by:)`.
  public let dictionary: [String: String]

  /// Reads a `.strings` file: lines of the form `"key" = "text";` in UTF-8 or UTF-16, with comments, or a property
  /// list.
  ///
  /// - Throws: ``ModelFileError``, with the line.
  public init(contentsOf url: URL) throws(ModelFileError) {
    let bytes = try DataModelBundle.bytes(of: url)
    // try?: data that is not a property list is parsed as strings, which throws.
    if let list = try? ArchiveReader.value(of: bytes), case .dictionary(let members) = list {
      dictionary = members.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
      return
    }
    guard let text = Self.text(bytes) else {
      throw ModelFileError(file: url.path, "The file is neither UTF-8 nor UTF-16.")
    }
    var parser = StringsParser(text)
    do {
      dictionary = try parser.parse()
    } catch {
      throw ModelFileError(file: url.path, line: error.line, error.message)
    }
  }

  private static func text(_ bytes: [UInt8]) -> String? {
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
      return String(data: Data(bytes), encoding: .utf16)
    }
    return String(validating: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
  }
}

/// Parses lines of a key, an equals sign, a text and a semicolon.
private struct StringsParser {
  struct Fault: Error {
    let line: Int
    let message: String
  }

  private var rest: Substring
  private var line = 1

  init(_ text: String) {
    rest = text[...]
  }

  mutating func parse() throws(Fault) -> [String: String] {
    var texts: [String: String] = [:]
    try skipSpace()
    while !rest.isEmpty {
      let key = try quoted()
      try expect("=")
      texts[key] = try quoted()
      try expect(";")
    }
    return texts
  }

  private mutating func expect(_ character: Character) throws(Fault) {
    guard rest.first == character else { throw Fault(line: line, message: "A “\(character)” is missing here.") }
    rest.removeFirst()
    try skipSpace()
  }

  private mutating func quoted() throws(Fault) -> String {
    guard rest.first == "\"" else { throw Fault(line: line, message: "A text in quotation marks is missing here.") }
    rest.removeFirst()
    var text = ""
    while let character = rest.popFirst(), character != "\"" {
      if character.isNewline { line += 1 }
      text += character == "\\" ? try escaped() : String(character)
      if rest.isEmpty { throw Fault(line: line, message: "The text has no closing quotation mark.") }
    }
    try skipSpace()
    return text
  }

  private mutating func escaped() throws(Fault) -> String {
    switch rest.popFirst() {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "U", "u":
      guard let code = UInt32(rest.prefix(4), radix: 16), let scalar = Unicode.Scalar(code) else {
        throw Fault(line: line, message: "“\\U” is not followed by four hexadecimal digits of a character.")
      }
      rest = rest.dropFirst(4)
      return String(scalar)
    case let character?: return String(character)
    case nil: throw Fault(line: line, message: "The text has no closing quotation mark.")
    }
  }

  private mutating func skipSpace() throws(Fault) {
    while let character = rest.first {
      if rest.hasPrefix("//") {
        rest = rest.drop { !$0.isNewline }
      } else if rest.hasPrefix("/*") {
        try skipComment()
      } else if character.isWhitespace {
        if character.isNewline { line += 1 }
        rest.removeFirst()
      } else {
        return
      }
    }
  }

  private mutating func skipComment() throws(Fault) {
    let start = line
    while !rest.hasPrefix("*/") {
      guard let character = rest.popFirst() else { throw Fault(line: start, message: "The comment has no end.") }
      if character.isNewline { line += 1 }
    }
    rest = rest.dropFirst(2)
  }
}

// MARK: Search

extension ModelLocalization {
  private static let folderSuffix = ".lproj"
  private static let fileSuffix = "Model.strings"
  /// The folder of the texts in the application's development language.
  private static let baseName = "Base"

  /// Reads the texts of a model in the first of `languages` for which there are any; nil if there are none.
  ///
  /// The texts are where applications have them: for `ToDo.xcdatamodeld` or `ToDo.momd`, in the file
  /// `ToDoModel.strings` in a folder such as `de.lproj` beside the model. For `de-CH`, this looks for `de-CH`, then for
  /// `de`. The last folder is `Base`.
  ///
  /// - Parameter languages: the user's languages in order of preference, such as `Locale.preferredLanguages`.
  /// - Throws: ``ModelFileError`` if a file exists but cannot be read.
  public init?(forModelAt url: URL, languages: [String]) throws(ModelFileError) {
    let folder = url.deletingLastPathComponent()
    let fileName = url.deletingPathExtension().lastPathComponent + Self.fileSuffix
    let folders = Self.folders(in: folder)
    for name in languages.flatMap(Self.names) + [Self.baseName] {
      guard let language = folders[name.lowercased()] else { continue }
      let file = folder.appending(path: language).appending(path: fileName)
      guard FileManager.default.fileExists(atPath: file.path) else { continue }
      try self.init(contentsOf: file)
      return
    }
    return nil
  }

  /// Returns the names of the language folders, by language in lower case.
  private static func folders(in folder: URL) -> [String: String] {
    // try?: if the folder cannot be listed, the model has no texts, which applications can do without.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let folders = names.sorted().filter { $0.hasSuffix(folderSuffix) }
    return Dictionary(
      folders.map { ($0.dropLast(folderSuffix.count).lowercased().replacing("_", with: "-"), $0) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Returns possible names for the folder of a language, the most specific one first: `zh-Hans-CN`, `zh-Hans`, `zh`.
  private static func names(of language: String) -> [String] {
    var parts = language.replacing("_", with: "-").split(separator: "-")
    var names: [String] = []
    while !parts.isEmpty {
      names.append(parts.joined(separator: "-"))
      parts.removeLast()
    }
    return names
  }
}
