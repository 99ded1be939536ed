package import Foundation

/// Files that Core Data and Xcode wrote, where they are at hand.
package enum ModelCorpus {
  package struct Store: Decodable {
    package let store: String
    package let model: String?
    package let versionHashes: [String: String]
    package let digest: String?
    package let checksum: String?
  }

  private struct Stores: Decodable {
    let sqlite: [Store]
  }

  private struct Absence: Error, CustomStringConvertible {
    let description = "HEARTWOOD_CORPUS does not name the folder of the corpus"
  }

  package static var folder: URL? {
    ProcessInfo.processInfo.environment["HEARTWOOD_CORPUS"].map { URL(filePath: $0) }
  }

  package static func url(_ path: String) throws -> URL {
    guard let folder else { throw Absence() }
    return folder.appending(path: path)
  }

  package static func stores() throws -> [Store] {
    try JSONDecoder().decode(Stores.self, from: Data(contentsOf: url("sqlite-stores.json"))).sqlite
  }

  /// All files of a name in the corpus.
  package static func files(named name: String) throws -> [URL] { try files(withSuffix: "/" + name) }

  package static func files(withSuffix suffix: String) throws -> [URL] {
    guard let folder else { throw Absence() }
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return paths.filter { $0.hasSuffix(suffix) }.sorted().map { folder.appending(path: $0) }
  }
}
