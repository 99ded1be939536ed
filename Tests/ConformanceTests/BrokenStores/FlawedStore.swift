import Foundation
import Heartwood

/// What is wrong with a store: it changes what is written or what has been read, or does what it should leave to the framework.
protocol StoreFlaw: Sendable {
  static var name: StoreType { get }
  static var displayName: String { get }
  static var fileExtensions: [String] { get }
  static var features: StoreCapabilities.Features { get }
  static var attributeTypes: Set<AttributeType> { get }
  static var referenceKinds: [StoreCapabilities.ReferenceKind] { get }
  static func recognizes(prefix: [UInt8]) -> Bool
  static func begin(path: String) throws
  static func validate(path: String) throws
  static func change(_ contents: inout StoreContents)
  static func bytes(toLoad file: StoreInput) throws -> [UInt8]
  static func document(from bytes: [UInt8]) throws -> StoreDocument
  static func write(_ document: inout StoreDocument, path: String) throws
  static func read(_ document: inout StoreDocument)
}

extension StoreFlaw {
  static var name: StoreType { StoreType("\(Self.self)") }
  static var displayName: String { "Flawed" }
  static var fileExtensions: [String] { ["flawed"] }
  static var features: StoreCapabilities.Features { [.persistence, .relationships, .userMetadata, .history] }
  static var attributeTypes: Set<AttributeType> { Set(AttributeType.allCases) }
  static var referenceKinds: [StoreCapabilities.ReferenceKind] { [.uuid, .integer, .string] }
  static func recognizes(prefix: [UInt8]) -> Bool { false }
  static func begin(path: String) throws {}
  static func validate(path: String) throws {}
  static func change(_ contents: inout StoreContents) {}
  static func bytes(toLoad file: StoreInput) throws -> [UInt8] { try file.bytes() }
  static func document(from bytes: [UInt8]) throws -> StoreDocument {
    try JSONDecoder().decode(StoreDocument.self, from: Data(bytes))
  }
  static func write(_ document: inout StoreDocument, path: String) throws {}
  static func read(_ document: inout StoreDocument) {}
}

/// What the file of a ``FlawedStore`` holds, as JSON.
struct StoreDocument: Codable {
  struct Name: Codable, Hashable {
    var entity: String
    var reference: String

    init(entity: String, reference: String) {
      self.entity = entity
      self.reference = reference
    }

    init(_ id: ManagedObjectID) {
      self.init(entity: id.entity.name, reference: id.reference.text)
    }
  }

  struct Record: Codable {
    var name: Name
    var values: [String: String]
    var links: [String: [Name]]
  }

  struct History: Codable {
    struct Page: Codable {
      var count: Int
      var bytes: Data
    }

    var purgedNumber: Int64
    var pages: [Page]
  }

  var metadata: StoreMetadata
  var history: History?
  var records: [Record]
  /// Something that has nothing to do with the content.
  var noise: String?
}

/// A sound store but for its flaw.
final class FlawedStore<Flaw: StoreFlaw>: AtomicStore, StoreClass {
  static var typeDescription: StoreTypeDescription {
    StoreTypeDescription(
      type: Flaw.name,
      displayName: Flaw.displayName,
      fileExtensions: Flaw.fileExtensions,
      capabilities: StoreCapabilities(
        kind: .atomic,
        features: Flaw.features,
        attributeTypes: Flaw.attributeTypes,
        referenceKinds: Flaw.referenceKinds
      )
    )
  }

  private let path: String

  init(_ setup: StoreSetup) throws {
    path = setup.path ?? ""
    try Flaw.begin(path: path)
  }

  static func recognizes(prefix: [UInt8]) -> Bool { Flaw.recognizes(prefix: prefix) }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try document(from: try file.bytes()).metadata
  }

  private static func document(from bytes: [UInt8]) throws -> StoreDocument {
    var document = try Flaw.document(from: bytes)
    Flaw.read(&document)
    return document
  }

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    func id(_ name: StoreDocument.Name) throws -> ManagedObjectID {
      loader.objectID(ReferenceID(text: name.reference), of: try loader.entity(named: name.entity))
    }
    let document = try Self.document(from: try Flaw.bytes(toLoad: file))
    loader.history = try document.history?.storeHistory()
    for record in document.records {
      let objectID = try id(record.name)
      try loader.addNode(objectID.reference, to: objectID.entity) { node in
        try node.setAttributeTexts(record.values)
        for (key, names) in record.links { try node.setObjectIDs(try names.map(id), forKey: key) }
      }
    }
  }

  func validate(_ contents: StoreContents) throws { try Flaw.validate(path: path) }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let records = contents.nodes.map { node in
      StoreDocument.Record(
        name: .init(node.objectID),
        values: node.attributeTexts,
        links: node.relatedObjectIDs.mapValues { $0.map(StoreDocument.Name.init) }
      )
    }
    var document = StoreDocument(
      metadata: contents.metadata,
      history: contents.history.map(StoreDocument.History.init),
      records: Array(records)
    )
    try Flaw.write(&document, path: path)
    try output.write(try document.encoded())
    Flaw.change(&contents)
  }
}

extension StoreDocument {
  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return [UInt8](try encoder.encode(self))
  }
}

extension StoreDocument.History {
  init(_ history: StoreHistory) {
    purgedNumber = history.purgedNumber
    pages = history.pages.map { Page(count: $0.transactionCount, bytes: Data($0.bytes)) }
  }

  func storeHistory() throws -> StoreHistory {
    let pages = try pages.map { try HistoryPage(bytes: Array($0.bytes), transactionCount: $0.count) }
    return try StoreHistory(purgedNumber: purgedNumber, pages: pages)
  }
}
