package import Foundation

/// Prepares a package: writes rewritten copies of the sources that need it, and the overlay that shows the copies to the
/// compiler in place of the originals.
package struct PackagePreparation {
  /// The package.
  package let package: URL
  /// The folder of the copies: `.build/coredata` in the package.
  package let folder: URL

  private let standIns: [String: String]

  private static let skippedFolders: Set<String> = [".build", ".git", ".swiftpm", "node_modules"]

  /// - Parameters:
  ///   - package: the folder with the manifest.
  ///   - usesStandIns: whether the sources are to import small modules in place of some of Apple's.
  package init(package: URL, usesStandIns: Bool = false) {
    standIns = usesStandIns ? SourceRewriter.standIns : [:]
    self.package = package.standardizedFileURL.resolvingSymlinksInPath()
    folder = self.package.appendingPathComponent(".build/coredata")
  }

  /// The overlay, for `swiftc -vfsoverlay`.
  package var overlay: URL { folder.appendingPathComponent("overlay.yaml") }

  /// Writes the copies and the overlay. A copy is only written if it differs from the one that is there, so that the
  /// next build compiles no more than it must.
  ///
  /// - Returns: the sources that were rewritten.
  /// - Throws: a `PreparationError` if there is no package; the errors of reading and writing files.
  package func run() throws -> [URL] {
    guard FileManager.default.fileExists(atPath: package.appendingPathComponent("Package.swift").path) else {
      throw PreparationError("There is no Package.swift in \(package.path). Name the folder of a package.")
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let sources = try sources().map { ($0, try String(contentsOf: $0, encoding: .utf8)) }
    var names = OwnNames()
    for (source, text) in sources {
      if let module = OwnNames.module(of: source, in: package) { names.note(text, ofModule: module) }
    }
    var copies: [(original: URL, copy: URL)] = []
    for (source, original) in sources {
      guard let text = SourceRewriter.rewrite(original, names, standIns: standIns) else { continue }
      let copy = self.copy(of: source)
      try write(text, to: copy)
      copies.append((source, copy))
    }
    try write(try overlayText(copies), to: overlay)
    return copies.map(\.original)
  }

  private func copy(of source: URL) -> URL {
    folder.appendingPathComponent("sources" + source.path)
  }

  private func write(_ text: String, to file: URL) throws {
    // try?: a file that cannot be read is written again.
    if (try? String(contentsOf: file, encoding: .utf8)) == text { return }
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  // MARK: Sources

  /// Returns the sources of the package itself, by path.
  package func ownSources() throws -> [String: String] {
    var sources: [String: String] = [:]
    for url in try swiftFiles(in: package) { sources[url.path] = try String(contentsOf: url, encoding: .utf8) }
    return sources
  }

  /// The sources of the package and of the dependencies that are checked out in it.
  private func sources() throws -> [URL] {
    var found = try swiftFiles(in: package)
    let checkouts = package.appendingPathComponent(".build/checkouts")
    // try?: a package that was never resolved has none.
    for name in (try? FileManager.default.contentsOfDirectory(atPath: checkouts.path))?.sorted() ?? [] {
      found += try swiftFiles(in: checkouts.appendingPathComponent(name))
    }
    return found
  }

  private func swiftFiles(in folder: URL) throws -> [URL] {
    var files: [URL] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
      let url = folder.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else { continue }
      if isFolder.boolValue {
        if !Self.skippedFolders.contains(name) { files += try swiftFiles(in: url) }
      } else if name.hasSuffix(".swift"), name != "Package.swift" {
        files.append(url)
      }
    }
    return files
  }

  // MARK: Overlay

  private struct Overlay: Encodable {
    struct File: Encodable {
      let type = "file"
      let name: String
      let contents: String

      enum CodingKeys: String, CodingKey {
        case type, name
        case contents = "external-contents"
      }
    }

    struct Folder: Encodable {
      let type = "directory"
      let name: String
      let contents: [File]
    }

    let version = 0
    let isCaseSensitive = "true"
    /// Diagnostics name the originals.
    let usesExternalNames = "false"
    let roots: [Folder]

    enum CodingKeys: String, CodingKey {
      case version, roots
      case isCaseSensitive = "case-sensitive"
      case usesExternalNames = "use-external-names"
    }
  }

  /// The overlay is YAML, of which JSON is a part.
  private func overlayText(_ copies: [(original: URL, copy: URL)]) throws -> String {
    let folders = Dictionary(grouping: copies) { $0.original.deletingLastPathComponent().path }
    let roots = folders.sorted { $0.key < $1.key }.map { path, copies in
      Overlay.Folder(
        name: path,
        contents: copies.map { Overlay.File(name: $0.original.lastPathComponent, contents: $0.copy.path) }
      )
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(Overlay(roots: roots)), as: UTF8.self) + "\n"
  }
}

/// Why a package cannot be prepared.
package struct PreparationError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
