import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Looks for a model by its name.
struct ModelSearch {
  /// How the names of models of our own form end.
  static let ownExtension = "json"
  private static let extensions = ["momd", "xcdatamodeld", "mom", "xcdatamodel", ownExtension]
  /// How the names of folders end in which packages have their resources.
  private static let bundleExtensions: Set<String> = ["resources", "bundle"]
  /// Where the resources of a bundle lie in it.
  private static let resourceFolders = ["Contents/Resources", "Resources"]

  let name: String
  let folders: [URL]?

  /// The model's file or folder.
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

  /// The folder of the executable and the bundles in it.
  private static func bundles() -> [URL] {
    let folder = executable.deletingLastPathComponent()
    // try?: a model that is found nowhere is thrown, with the places.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let bundles = names.sorted().map { folder.appending(path: $0) }
    return [folder] + applicationBundles + bundles.filter { bundleExtensions.contains($0.pathExtension) }
  }

  /// The bundle that the executable is part of, on the platforms that have such.
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
