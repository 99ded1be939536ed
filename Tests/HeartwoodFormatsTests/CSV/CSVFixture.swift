import Foundation
@testable import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// A CSV store over a file in memory, opened, changed and saved by the engine.
struct CSVFixture {
  static let path = "/data.csv"
  static let identifier = "#D35CF030-1EC1-4667-9666-70C8247A1010"

  let model: ManagedObjectModel
  let files = InMemoryFileSystem()
  var options = StoreOptions()

  init(_ entities: EntityDefinition..., layout: CSVStore.Layout? = nil, chunkSize: Int? = nil) throws {
    model = try ManagedObjectModel(entities: entities)
    if let layout { options[.csvLayout] = layout }
    if let chunkSize { options[.csvChunkSize] = chunkSize }
  }

  var entity: EntityDescription {
    get throws { try #require(model.entities.first { !$0.isAbstract }) }
  }

  var setup: StoreSetup {
    StoreSetup(
      model: model,
      configurationName: nil,
      entities: model.entities,
      path: Self.path,
      options: options
    )
  }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws { try files.setContents(bytes, ofFileAtPath: Self.path) }

  var bytes: [UInt8] {
    get throws { try #require(files.contents(ofFileAtPath: Self.path)) }
  }

  var text: String {
    get throws { try #require(String(validating: try bytes, as: UTF8.self)) }
  }

  func open() throws -> AtomicStoreEngine {
    try AtomicStoreEngine.open(AtomicClassFormat(CSVStore.self), setup: setup, fileSystem: files)
  }

  /// Opens a file of the identifier and `lines`.
  func open(_ lines: String...) throws -> AtomicStoreEngine {
    try write(([Self.identifier] + lines).map { $0 + "\n" }.joined())
    return try open()
  }

  /// Writes `contents` as a new file, with nothing remembered of the one that they come from.
  func create(from contents: StoreContents) throws {
    var contents = contents
    contents.attachment = nil
    _ = try AtomicStoreEngine.create(
      AtomicClassFormat(CSVStore.self),
      contents: contents,
      setup: setup,
      fileSystem: files,
      replacing: false
    )
  }

  /// The error of opening the file, which must be one.
  func openingError() throws -> PersistenceError {
    try #require(throws: PersistenceError.self) { try open() }
  }

  /// The error of opening a file of the identifier and `lines`.
  func openingError(_ lines: String...) throws -> PersistenceError {
    try write(([Self.identifier] + lines).map { $0 + "\n" }.joined())
    return try openingError()
  }
}

/// A record as what it says, whatever store it is in.
struct CSVRecord: Equatable, CustomStringConvertible {
  let reference: ReferenceID
  let values: [String]

  init(reference: ReferenceID, values: [PropertyValue]) {
    self.reference = reference
    self.values = values.map(\.kept)
  }

  var description: String { "\(reference): \(values)" }
}

extension PropertyValue {
  /// What is kept of the value: every bit of numbers but the kind of a NaN, and of objects their references.
  var kept: String {
    switch self {
    case .double(let number): "double \(number.isNaN ? 0 : number.bitPattern)"
    case .float(let number): "float \(number.isNaN ? 0 : number.bitPattern)"
    case .date(let date): "date \(date.timeIntervalSinceReferenceDate)"
    case .binary(let data): "data \(Array(data))"
    case .toOne(let id): "to \(id.reference.kind) \(id.reference)"
    case .toMany(let ids): "to \(ids.map { "\($0.reference.kind) \($0.reference)" })"
    default: description
    }
  }
}

extension AtomicStoreEngine {
  /// The records of the one entity, in order.
  var records: [CSVRecord] {
    get throws {
      let contents = try contents()
      return contents.entities.flatMap { entity in
        contents.nodes(of: entity).map { CSVRecord(reference: $0.reference, values: $0.values) }
      }
    }
  }

  /// The values of the one property of all records.
  func values(_ name: String) throws -> [PropertyValue] {
    let contents = try contents()
    return contents.entities.filter { !$0.isAbstract }.flatMap { entity in contents.nodes(of: entity).map { $0[name] } }
  }

  /// Nodes of the one concrete entity.
  private func nodes() throws -> [AtomicStoreCacheNode] {
    let contents = try contents()
    return contents.entities.filter { !$0.isAbstract }.flatMap { Array(contents.nodes(of: $0)) }
  }

  /// Sets a value of the record with the number `index` and saves.
  func update(_ index: Int, _ name: String, _ value: PropertyValue) throws {
    let node = try nodes()[index]
    let ordinal = try #require(node.entity.ordinal(ofProperty: name))
    _ = try save(
      ChangeSet(updated: [
        RecordUpdate(objectID: node.objectID, baseVersion: node.version, values: [(ordinal, value)])
      ])
    )
  }

  func delete(_ indices: Int...) throws {
    let nodes = try nodes()
    _ = try save(
      ChangeSet(
        deleted: indices.map {
          RecordDeletion(objectID: nodes[$0].objectID, baseVersion: nodes[$0].version)
        }
      )
    )
  }

  func insert(_ reference: ReferenceID, _ values: [PropertyValue]) throws {
    let contents = try contents()
    let entity = try #require(contents.entities.first { !$0.isAbstract })
    let id = contents.objectID(reference, of: entity)
    _ = try save(ChangeSet(inserted: [ObjectSnapshot(objectID: id, version: 0, values: values)]))
  }
}

/// Models that the tests keep records of.
enum CSVModels {
  static let toDo = EntityDefinition.entity(
    "ToDo",
    .attribute("done", .boolean, default: .boolean(false)),
    .attribute("memo", .string, optional: true),
    .attribute("sortOrder", .integer32),
    .attribute("creationDate", .date, optional: true)
  )

  /// An entity with one attribute.
  static func one(_ type: AttributeType) -> EntityDefinition {
    .entity("One", .attribute("value", type, optional: true))
  }

  /// Every type of attribute, and relationships.
  static let everything = EntityDefinition.entity(
    "Everything",
    .attribute("text", .string, optional: true),
    .attribute("flag", .boolean, optional: true),
    .attribute("small", .integer16, optional: true),
    .attribute("medium", .integer32, optional: true),
    .attribute("large", .integer64, optional: true),
    .attribute("double", .double, optional: true),
    .attribute("float", .float, optional: true),
    .attribute("decimal", .decimal, optional: true),
    .attribute("date", .date, optional: true),
    .attribute("data", .binary, optional: true),
    .attribute("uuid", .uuid, optional: true),
    .attribute("uri", .uri, optional: true),
    .attribute("made", .transformable, optional: true),
    .attribute("shown", .string, optional: true, transient: true),
    .toOne("parent", "Everything", inverse: nil),
    .toMany("others", "Everything", inverse: nil, ordered: true)
  )
}
