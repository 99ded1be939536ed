import Foundation
import HeartwoodFormats
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Stores that Core Data made, where they are at hand.
enum SQLiteCorpus {
  struct Store: Decodable, Sendable, CustomTestStringConvertible {
    let store: String
    let model: String?
    let modelcache: Bool
    let uuid: String
    let framework: Int
    let versionHashes: [String: String]
    let digest: String?
    let checksum: String?

    var testDescription: String { store }
    /// The name of the file alone, without what comes before its last two folders.
    var name: String { store.split(separator: "/").suffix(1).joined() }
  }

  private struct Stores: Decodable {
    let sqlite: [Store]
  }

  static let folder = ProcessInfo.processInfo.environment["HEARTWOOD_CORPUS"].map { URL(filePath: $0) }

  /// All stores; none where there is no corpus.
  static let stores: [Store] = {
    guard let folder, let data = try? Data(contentsOf: folder.appending(path: "sqlite-stores.json")) else { return [] }
    return (try? JSONDecoder().decode(Stores.self, from: data))?.sqlite ?? []
  }()

  /// A copy of a store and its log, which may be opened.
  static func copy(_ store: Store, to scratch: ScratchFolder) throws -> String {
    let source = try #require(folder).appending(path: store.store)
    let path = scratch.path("Copy.sqlite")
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source.path + suffix) {
      try FileManager.default.copyItem(atPath: source.path + suffix, toPath: path + suffix)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + suffix)
    }
    return path
  }

  /// The model that the store was written with: its source, where that is here, and the one in the file.
  static func models(_ store: Store, path: String) throws -> [ManagedObjectModel] {
    let source = try store.model.map { try ManagedObjectModel(contentsOf: #require(folder).appending(path: $0)) }
    let cached = try SQLiteFile.inspect(atPath: path) { try SQLiteModelCache.model(in: $0, path: path) }
    return [source, cached].compactMap(\.self)
  }
}
