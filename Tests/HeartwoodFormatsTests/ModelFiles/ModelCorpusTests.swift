import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite(
  "Model files from public repositories",
  .enabled(if: ModelCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct ModelCorpusTests {
  /// The models that are refused, and why: all for what is not supported yet.
  private static let refusals = [
    "Composite attributes are not supported yet",
    "Derived attributes are not supported yet",
  ]

  @Test("Every model is read, or refused for a reason that is known")
  func models() throws {
    let files = try ModelCorpus.files(named: "contents")
    #expect(files.count >= 165)
    var refused: [String] = []
    for file in files {
      do {
        let model = try DataModelFile(contentsOf: file).model
        #expect(try ManagedObjectModel(encoded: model.encoded()) == model, "\(file.path)")
      } catch let error as ModelFileError {
        refused.append("\(error)")
        #expect(Self.refusals.contains { error.message.contains($0) }, "\(error)")
      }
    }
    print("\(files.count - refused.count) of \(files.count) models read; refused:\n" + refused.joined(separator: "\n"))
  }

  @Test("The current version of every bundle is found, or it is said why not: not every version is in the corpus")
  func bundles() throws {
    let reasons = ["names no version", "names the version", "There is no model here"]
    var found = 0
    for list in try ModelCorpus.files(named: ".xccurrentversion") {
      do throws(ModelFileError) {
        let bundle = list.deletingLastPathComponent()
        let current = try DataModelFile.currentVersion(at: bundle)
        let versions = try DataModelFile.versions(at: bundle)
        #expect(versions.contains(current), "\(bundle.path)")
        found += 1
      } catch {
        #expect(reasons.contains { error.message.contains($0) }, "\(error)")
      }
    }
    #expect(found > 0)
  }

  @Test("Models have the hashes of the stores that were written with them")
  func versionHashes() throws {
    var (agreeing, compared) = (0, 0)
    for store in try ModelCorpus.stores() {
      guard let path = store.model else { continue }
      let model = try ManagedObjectModel(contentsOf: ModelCorpus.url(path))
      let hashes = model.entityVersionHashesByName.mapValues { $0.map { String(format: "%02x", $0) }.joined() }
      for (entity, hash) in store.versionHashes { #expect(hashes[entity] == hash, "\(store.store) \(entity)") }
      compared += store.versionHashes.count
      agreeing += store.versionHashes.count { hashes[$0.key] == $0.value }
      guard hashes.count == store.versionHashes.count else { continue }
      if let digest = store.digest { #expect(model.versionHashesDigest == digest, "\(store.store)") }
      if let checksum = store.checksum { #expect(model.versionChecksum == checksum, "\(store.store)") }
    }
    print("\(agreeing) of \(compared) entities agree")
    #expect(compared > 0)
  }

  @Test("Changed files give a model or an error, never a trap")
  func mutations() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    for file in try ModelCorpus.files(named: "contents") {
      let data = try Data(contentsOf: file)
      for _ in 0..<20 {
        let copy = try folder.write(generator.mutated(data), to: "contents")
        do throws(ModelFileError) { _ = try DataModelFile(contentsOf: copy) } catch {
          #expect(!error.message.isEmpty, "seed \(seed)")
        }
      }
    }
  }
}

/// Files that Core Data and Xcode wrote, where they are at hand.
enum ModelCorpus {
  struct Store: Decodable {
    let store: String
    let model: String?
    let versionHashes: [String: String]
    let digest: String?
    let checksum: String?
  }

  private struct Stores: Decodable {
    let sqlite: [Store]
  }

  static var folder: URL? {
    ProcessInfo.processInfo.environment["HEARTWOOD_CORPUS"].map { URL(filePath: $0) }
  }

  static func url(_ path: String) throws -> URL {
    try #require(folder).appending(path: path)
  }

  static func stores() throws -> [Store] {
    try JSONDecoder().decode(Stores.self, from: Data(contentsOf: url("sqlite-stores.json"))).sqlite
  }

  /// All files of a name in the corpus.
  static func files(named name: String) throws -> [URL] {
    let folder = try #require(folder)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return paths.filter { $0.hasSuffix("/" + name) }.sorted().map { folder.appending(path: $0) }
  }
}
