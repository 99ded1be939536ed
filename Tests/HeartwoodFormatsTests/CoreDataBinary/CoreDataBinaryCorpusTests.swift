import Foundation
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodFormats

@Suite(
  "Binary stores that Core Data wrote, from public repositories",
  .enabled(if: ModelCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct CoreDataBinaryCorpusTests {
  private static func files() throws -> [URL] {
    let files = try ModelCorpus.files(withSuffix: ".paw")
    #expect(files.count >= 6)
    return files
  }

  private func opened(_ url: URL, _ model: ManagedObjectModel) throws -> StoreFile {
    var options = StoreOptions()
    options[.ignoresModelVersion] = true
    let file = StoreFile(CoreDataBinaryStore.self, model, options: options)
    try file.write([UInt8](try Data(contentsOf: url)))
    return file
  }

  private func inferred(_ url: URL) throws -> StoreFile {
    let file = try opened(url, try ManagedObjectModel(entities: []))
    let model = try #require(try CoreDataBinaryStore.inferModel(from: file.input, options: StoreOptions()))
    return try opened(url, model)
  }

  private func hasVariables(_ file: StoreFile) throws -> Bool {
    let metadata = try CoreDataBinaryStore.readMetadata(from: file.input, options: StoreOptions())
    return metadata.modelVersionHashes["LMRequestVariable"] != nil
  }

  private func applicationFile(_ url: URL) throws -> StoreFile {
    let plain = try opened(url, try ManagedObjectModel(entities: []))
    return try opened(url, try RequestModel.make(hasVariables: try hasVariables(plain)))
  }

  @Test("The hashes of the application's model are those of the files, so its attributes are what is at each position")
  func hashes() throws {
    for url in try Self.files() {
      let file = try applicationFile(url)
      let metadata = try CoreDataBinaryStore.readMetadata(from: file.input, options: file.options)
      #expect(metadata.modelVersionHashes.count == file.model.entities.count, "\(url.path)")
      for name in RequestModel.known {
        #expect(file.model.entity(named: name)?.versionHash == metadata.modelVersionHashes[name], "\(url.path) \(name)")
      }
    }
  }

  /// Bytes of a file without some of its parts, and the least share of the records that are then found.
  private static func damaged(_ bytes: [UInt8], _ header: CoreDataBinaryHeader) -> [(String, [UInt8], Double)] {
    func zeroed(_ range: Range<Int>) -> [UInt8] {
      var bytes = bytes
      for offset in range { bytes[offset] = 0 }
      return bytes
    }
    let end = header.records.upperBound
    return [
      ("without the places in the header", zeroed(16..<48), 1),
      ("without the metadata", Array(bytes.prefix(end)), 1),
      ("without the end of the records", zeroed((end - 32)..<end), 1),
      ("without both", Array(bytes.prefix(end - 32)), 1),
      ("without the last part of the records", Array(bytes.prefix(end * 3 / 5)), 0.1),
    ]
  }

  @Test("Damaged files give the records that are left, with the model and without it")
  func salvage() throws {
    for url in try Self.files() {
      let whole = try inferred(url)
      let expected = try whole.open().contents()
      let header = try CoreDataBinaryHeader(whole.input)
      for (what, bytes, share) in Self.damaged(try whole.bytes, header) {
        let title = "\(url.path) \(what)"
        let file = StoreFile(CoreDataBinaryStore.self, whole.model, options: whole.options)
        try file.write(bytes)
        #expect(throws: PersistenceError.self, "\(title)") { try file.open().contents() }
        let loader = StoreLoader(setup: file.setup, storeType: .coreDataBinary)
        let salvage = StoreSalvage(loader)
        try CoreDataBinaryStore(file.setup).salvage(file.input, into: salvage)
        let found = try loader.finish()
        #expect(!salvage.losses.isEmpty, "\(title)")
        #expect(Double(found.count) >= share * Double(expected.count) && found.count > 0, "\(title): \(found.count)")
        for node in found.nodes {
          let original = try #require(try expected.node(node.reference, of: node.entity), "\(title)")
          guard share == 1 else { continue }
          for property in node.entity.properties {
            let (value, old) = (node[property.name], original[property.name])
            let isSame =
              property.relationship == nil
              ? value == old : value.objectIDs.map(\.reference) == old.objectIDs.map(\.reference)
            #expect(isSame, "\(title): \(node.entity.name).\(property.name)")
          }
        }
        let model = try #require(try CoreDataBinaryStore.inferModel(from: file.input, options: file.options))
        let names = Set(found.nodes.map(\.entity.name))
        #expect(names.allSatisfy { model.entity(named: $0)?.properties.isEmpty == false }, "\(title)")
      }
    }
  }

  @Test("With the application's model every value is that of its attribute")
  func values() throws {
    for url in try Self.files() {
      let file = try applicationFile(url)
      let contents = try file.open().contents()
      let request = try #require(file.model.entity(named: "LMRequest"))
      #expect(contents.table(of: request).count > 0, "\(url.path)")
      let references = contents.nodes(of: request).map(\.reference.text).compactMap { Int($0) }
      #expect(references == references.sorted(), "\(url.path)")
      for node in contents.nodes(of: request) {
        guard case .string(let method) = node["method"], case .string(let text) = node["url"],
          case .string(let uuid) = node["uuid"]
        else {
          Issue.record("\(url.path)")
          continue
        }
        #expect(method.contains("dynamicString") && text.contains("http"), "\(url.path)")
        #expect(UUID(uuidString: uuid) != nil, "\(url.path)")
        #expect([.boolean(true), .boolean(false)].contains(node["sendCookies"]), "\(url.path)")
        for child in node["parent"].objectIDs { #expect(child.entity.name == "LMRequestGroup", "\(url.path)") }
      }
      for entity in contents.entities {
        for node in contents.nodes(of: entity) { try checkInverses(of: node, contents) }
      }
    }
  }

  private func checkInverses(of node: AtomicStoreCacheNode, _ contents: StoreContents) throws {
    for relationship in node.entity.relationships {
      let inverse = try #require(relationship.inverseRelationshipName)
      for id in node[relationship.name].objectIDs {
        let other = try #require(try contents.node(id.reference, of: id.entity), "\(relationship.name)")
        #expect(other[inverse].objectIDs.contains(node.objectID), "\(node.entity.name).\(relationship.name)")
      }
    }
  }

  @Test("What is written of a file is the same, key by key", arguments: [true, false])
  func writing(_ isInferred: Bool) throws {
    for url in try Self.files() {
      let file = isInferred ? try inferred(url) : try applicationFile(url)
      let before = try file.bytes
      let contents = try file.open().contents()
      let form = try #require(contents.attachment as? CoreDataBinaryForm)
      let output = CollectingFile(path: StoreFile.path)
      let stream = StoreOutput(output)
      try CoreDataBinaryWriter(
        schema: CoreDataBinarySchema(file.model, entities: file.model.entities),
        contents: contents,
        form: form
      ).write(to: stream)
      try stream.flush()
      let slice = output.takeBytes()
      let after = withExtendedLifetime(slice) { Array(slice.unsafeBytes) }
      let old = try CoreDataBinaryHeader(try file.input)
      try file.write(after)
      let new = try CoreDataBinaryHeader(try file.input)
      #expect(
        [old.greatestKey, Int64(old.formVersion), Int64(old.remainder)]
          == [new.greatestKey, Int64(new.formVersion), Int64(new.remainder)]
      )
      let records = try before.archiveTree(\.records, of: old, key: "mapData")
      let written = try after.archiveTree(\.records, of: new, key: "mapData")
      // A float that the application set to an integer is written as a float if the model says that it is one.
      #expect(isInferred ? written == records : written.withRealNumbers == records.withRealNumbers, "\(url.path)")
      let metadata = try before.archiveTree(\.metadata, of: old, key: "metadata")
      #expect(
        try after.archiveTree(\.metadata, of: new, key: "metadata").without("HeartwoodModel") == metadata,
        "\(url.path)"
      )
      #expect(ContentsComparison.firstDifference(contents, try file.open().contents()) == nil, "\(url.path)")
    }
  }

  @Test("A model is made of the records: entities, relationships, inverses, an entity above others")
  func recovery() throws {
    for url in try Self.files() {
      let file = try inferred(url)
      #expect(file.model.isRecovered)
      let real = try RequestModel.make(hasVariables: try hasVariables(file))
      for entity in file.model.entities {
        for relationship in entity.relationships {
          // An entity above others may be made up.
          guard let known = real.entity(named: entity.name)?.relationshipsByName[relationship.name] else { continue }
          #expect(relationship.isToMany == known.isToMany, "\(url.path) \(entity.name).\(relationship.name)")
          if let inverse = relationship.inverseRelationshipName { #expect(inverse == known.inverseRelationshipName) }
        }
      }
      let environment = try #require(file.model.entity(named: "LMEnvironment"))
      if let domain = environment.relationshipsByName["domain"] {
        #expect(
          domain.destinationEntityName == "LMEnvironmentDomain" && domain.inverseRelationshipName == "environments"
        )
      }
      let jar = try #require(file.model.entity(named: "LMCookieJar"))
      #expect(
        jar.attributesByName.mapValues(\.type) == [
          "attribute1": .string, "attribute2": .integer64, "attribute3": .string,
        ]
      )
      #expect(
        try file.open().contents().count == CoreDataBinaryRecords.count(try file.bytes, try file.input),
        "\(url.path)"
      )
    }
  }

  @Test("A file is not saved with a model that was made of it")
  func readOnly() throws {
    let file = try inferred(try #require(try Self.files().first))
    let before = try file.bytes
    let engine = try file.open()
    let error = #expect(throws: PersistenceError.self) { _ = try engine.replaceMetadata(engine.metadata) }
    #expect(error?.code == .storeReadOnly)
    #expect(try file.bytes == before)
  }

  @Test("They become stores of every other type, and come back")
  func conversion() throws {
    for url in try Self.files() {
      let file = try applicationFile(url)
      let contents = try file.open().contents()
      for form in ConversionTests.forms {
        let other = form.file(file.model)
        try other.create(contents)
        let converted = try other.open().contents()
        #expect(ContentsComparison.firstDifference(contents, converted) == nil, "\(url.path) \(form.name)")
      }
    }
  }
}

/// The records of a file, counted without the reader.
private enum CoreDataBinaryRecords {
  static func count(_ bytes: [UInt8], _ input: StoreInput) throws -> Int {
    let header = try CoreDataBinaryHeader(input)
    guard case .dictionary(_, let members) = try bytes.archiveTree(\.records, of: header, key: "mapData") else {
      return -1
    }
    return members.count
  }
}
