import Foundation
import GRDB
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

@Suite(
  "Metadata of files that Core Data made, from public repositories",
  .enabled(if: SQLiteCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct MetadataCorpusTests {
  /// Entities whose hashes are not understood.
  private static let unknownHashes: [String: (entities: Set<String>, reason: String)] = [
    "SampleModel2_V1.sqlite": (["Book", "GraphicNovel"], "how a derived attribute enters a hash is not known")
  ]

  private func hexadecimal(_ hashes: [String: Data]) -> [String: String] {
    hashes.mapValues { $0.map { String(format: "%02x", $0) }.joined() }
  }

  private func list(_ path: String) throws -> [String: Any] {
    let data = try SQLiteFile.inspect(atPath: path) { db in
      try Data.fetchOne(db, sql: "SELECT Z_PLIST FROM Z_METADATA")
    }
    let list = try PropertyListSerialization.propertyList(from: try #require(data), format: nil)
    return try #require(list as? [String: Any])
  }

  @Test("Metadata are read, and written again they are the same", arguments: SQLiteCorpus.stores)
  func metadata(_ store: SQLiteCorpus.Store) throws {
    let scratch = try ScratchFolder()
    let path = try SQLiteCorpus.copy(store, to: scratch)
    let read = try SQLiteFile.inspect(atPath: path) { try SQLiteMetadata.read(from: $0, path: path) }
    #expect(read.metadata.identifier.uuidString == store.uuid)
    // Those of entities with derived attributes are computed of the model in the file, and are written as they were.
    let isKnown = { (name: String) in Self.unknownHashes[store.name]?.entities.contains(name) != true }
    let hashes = hexadecimal(read.metadata.modelVersionHashes)
    #expect(hashes.filter { isKnown($0.key) } == store.versionHashes.filter { isKnown($0.key) })
    #expect(hashes.count == store.versionHashes.count)
    guard let model = try SQLiteCorpus.models(store, path: path).first else { return }
    let before = try list(path)
    let file = try SQLiteFile.open(atPath: path)
    try file.write { try read.write(to: $0, model: model) }
    try file.close()
    var after = try list(path)
    #expect(after.removeValue(forKey: "HeartwoodModel") is String)
    #expect(NSDictionary(dictionary: after) == NSDictionary(dictionary: before))
  }

  @Test("The model in a file has the hashes that the file tells", arguments: SQLiteCorpus.stores.filter(\.modelcache))
  func cachedModel(_ store: SQLiteCorpus.Store) throws {
    let scratch = try ScratchFolder()
    let path = try SQLiteCorpus.copy(store, to: scratch)
    let model = try #require(try SQLiteFile.inspect(atPath: path) { try SQLiteModelCache.model(in: $0, path: path) })
    let hashes = hexadecimal(model.entityVersionHashesByName)
    for (entity, hash) in store.versionHashes.sorted(by: { $0.key < $1.key }) {
      let isKnown = Self.unknownHashes[store.name]?.entities.contains(entity) != true
      #expect((hashes[entity] == hash) == isKnown, "\(entity)")
    }
  }
}
