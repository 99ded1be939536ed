import HeartwoodFormats
public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

/// Finds the file of a model by its name.
struct ModelSearch {
  /// The file extension of models in Heartwood's own JSON format.
  static let ownExtension = "json"
  private static let extensions = ["momd", "xcdatamodeld", "mom", "xcdatamodel", ownExtension]
  /// The extensions of the folders that hold the resources of packages.
  private static let bundleExtensions: Set<String> = ["resources", "bundle"]
  /// The folders inside a bundle that may hold its resources.
  private static let resourceFolders = ["Contents/Resources", "Resources"]

  let name: String
  let folders: [URL]?

  /// Returns the model's file or folder.
  func url() throws(PersistenceError) -> URL {
    var seen: Set<String> = []
    let places = (folders ?? Self.bundles()).flatMap(Self.places).filter { seen.insert($0.path).inserted }
    let found = places.compactMap(file)
    guard let first = found.first else { throw missing(places) }
    if folders == nil, found.count > 1 { throw ambiguous(found) }
    return first
  }

  private func file(in folder: URL) -> URL? {
    Self.extensions.lazy.map { folder.appending(path: "\(name).\($0)") }
      .first { FileManager.default.fileExists(atPath: $0.path) }
  }

  private static func places(in folder: URL) -> [URL] {
    [folder]
      + resourceFolders.map { folder.appending(path: $0) }.filter { FileManager.default.fileExists(atPath: $0.path) }
  }

  /// Returns the folder of the executable and the bundles in it.
  private static func bundles() -> [URL] {
    let folder = executable.deletingLastPathComponent()
    // try?: if the model is not found, `missing` reports the places.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let bundles = names.sorted().map { folder.appending(path: $0) }
    return [folder] + applicationBundles + bundles.filter { bundleExtensions.contains($0.pathExtension) }
  }

  /// The bundle that contains the executable, on platforms that have bundles.
  private static var applicationBundles: [URL] {
    #if canImport(Darwin)
      [Bundle.main.bundleURL]
    #else
      []
    #endif
  }

  private static var executable: URL {
    #if canImport(Darwin)
      Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments.first ?? "")
    #else
      // try?: as above.
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      return URL(filePath: link ?? CommandLine.arguments.first ?? "")
    #endif
  }

  private func missing(_ places: [URL]) -> PersistenceError {
    let names = Self.extensions.map { ".\($0)" }.joined(separator: ", ")
    return PersistenceError(
      .modelMissing,
      "There is no model called \(name) (\(names)).",
      recovery: "Add it to the resources of the target, or give the folder that has it.",
      context: .init(relatedPaths: places.map { .init("looked in", $0.path) })
    )
  }

  private func ambiguous(_ found: [URL]) -> PersistenceError {
    PersistenceError(
      .modelMissing,
      "Several models are called \(name).",
      recovery: "Give the bundle of the one that is meant.",
      context: .init(relatedPaths: found.map { .init("found", $0.path) })
    )
  }
}

// MARK: ManagedObjectModel: resources

extension ManagedObjectModel {
  /// Reads the model called `name` from the program's resources, or from the given bundles or folders.
  ///
  /// The extensions are tried in this order: `.momd`, `.xcdatamodeld`, `.mom`, `.xcdatamodel` and `.json` (see
  /// `Formats/Model`). In a bundle, the initializer searches the resources; pass `Bundle.module.bundleURL` for the
  /// resources of a package's target.
  ///
  /// - Parameters:
  ///   - name: the name of the model, without an extension.
  ///   - folders: the bundles or folders to search; the first one with the model is used. Nil searches the folder of
  ///     the executable and the resource bundles in it, and exactly one of these must have the model.
  /// - Throws: ``PersistenceError/Code/modelMissing``, which lists the searched places or describes what is wrong with
  ///   the file, such as members of the JSON that are not known.
  public convenience init(named name: String, in folders: [URL]? = nil) throws(PersistenceError) {
    try self.init(resourceAt: try ModelSearch(name: name, folders: folders).url())
  }

  convenience init(resourceAt url: URL) throws(PersistenceError) {
    do {
      if url.pathExtension == ModelSearch.ownExtension {
        let data = try Data(contentsOf: url)
        try self.init(encoded: data)
        try Self.checkMembers(inEncoded: data, at: url)
      } else {
        try self.init(contentsOf: url)
      }
    } catch {
      throw .of(error, .modelMissing, "The model cannot be read.", context: .init(path: url.path))
    }
  }

  /// Throws if the JSON has members that are not known. The application comes with the file, so no newer version of the
  /// package has written it.
  private static func checkMembers(inEncoded data: Data, at url: URL) throws {
    let unknown = try unknownMembers(inEncoded: data)
    if unknown.isEmpty { return }
    throw PersistenceError(
      .modelMissing,
      "The model has members that are not known: \(unknown.joined(separator: ", ")).",
      recovery: "Correct their names, or remove them.",
      context: .init(path: url.path)
    )
  }
}
