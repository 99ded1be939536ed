#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension ModelLocalization {
  private static let folderSuffix = ".lproj"
  private static let fileSuffix = "Model.strings"
  /// The folder of texts in the language that the application was written in.
  private static let baseName = "Base"

  /// Reads the texts of a model in the first of `languages` that there are any in; nil where there are none.
  ///
  /// They are looked for where an application has them: for `ToDo.xcdatamodeld` or `ToDo.momd` in `ToDoModel.strings`, in a folder
  /// `de.lproj` beside the model. Of `de-CH`, that is looked for first, then `de`; at last `Base`.
  ///
  /// - Parameter languages: the user's languages, best first, such as `Locale.preferredLanguages`.
  /// - Throws: ``ModelFileError`` where a file that is there cannot be read.
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

  /// The names of the folders of languages, by the languages in small letters.
  private static func folders(in folder: URL) -> [String: String] {
    // try?: a folder that cannot be listed has no texts, which applications do without.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let folders = names.sorted().filter { $0.hasSuffix(folderSuffix) }
    return Dictionary(
      folders.map { ($0.dropLast(folderSuffix.count).lowercased().replacing("_", with: "-"), $0) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// What the folder of a language may be called, the closest first: `zh-Hans-CN`, `zh-Hans`, `zh`.
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
