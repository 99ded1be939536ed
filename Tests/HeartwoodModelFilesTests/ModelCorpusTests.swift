import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting
import TestSupport
import Testing

@Suite(
  "Model files from public repositories",
  .enabled(if: ModelCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct ModelCorpusTests {
  @Test("Every model is read")
  func models() throws {
    let files = try ModelCorpus.files(named: "contents")
    #expect(files.count >= 165)
    for file in files {
      let model = try DataModelFile(contentsOf: file).model
      #expect(try ManagedObjectModel(encoded: model.encoded()) == model, "\(file.path)")
    }
  }

  @Test("Every model that is read and written is the same XML, and a new file of it says the same")
  func writing() throws {
    let folder = try ScratchFolder()
    for url in try ModelCorpus.files(named: "contents") {
      let (data, file) = (try Data(contentsOf: url), try DataModelFile(contentsOf: url))
      #expect(try CanonicalXML.lines(of: file.contents()) == CanonicalXML.lines(of: data), "\(url.path)")
      let fresh = try folder.write(file.model.dataModelContents(), to: "contents")
      #expect(try ManagedObjectModel(contentsOf: fresh) == file.model, "\(url.path)")
    }
  }

  @Test("Every model of Xcode 3 is read, and becomes a newer file that says the same")
  func legacy() throws {
    let folder = try ScratchFolder()
    let files = try ModelCorpus.files(named: "elements")
    #expect(files.count >= 7)
    for url in files {
      let file = try DataModelFile(contentsOf: url)
      #expect(file.model.entities.count > 1, "\(url.path)")
      let newer = try folder.write(file.contents(), to: "contents")
      #expect(try ManagedObjectModel(contentsOf: newer) == file.model, "\(url.path)")
    }
  }

  @Test("Every compiled model is read, and has the hashes that its bundle lists")
  func compiled() throws {
    let files = try ModelCorpus.files(withSuffix: ".mom")
    #expect(files.count >= 7)
    for url in files {
      let file = try DataModelFile(contentsOf: url)
      #expect(!file.model.entities.isEmpty, "\(url.path)")
      let list = url.deletingLastPathComponent().appending(path: "VersionInfo.plist")
      guard let data = try? Data(contentsOf: list),
        let info = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
        let hashes = info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
      else { continue }
      let name = url.deletingPathExtension().lastPathComponent
      #expect(file.model.entityVersionHashesByName == hashes[name], "\(url.path)")
    }
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
    let folder = try ScratchFolder()
    for file in try ["/contents", "/elements", ".mom"].flatMap({ try ModelCorpus.files(withSuffix: $0) }) {
      let data = try Data(contentsOf: file)
      for _ in 0..<20 {
        let copy = try folder.write(generator.mutated(data), to: file.lastPathComponent)
        do throws(ModelFileError) { _ = try DataModelFile(contentsOf: copy) } catch {
          #expect(!error.message.isEmpty, "seed \(seed)")
        }
      }
    }
  }
}
