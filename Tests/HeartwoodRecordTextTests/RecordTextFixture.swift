import Foundation
import HeartwoodModel
import HeartwoodStore

@testable import HeartwoodRecordText

/// A table of one entity that has every kind of property.
struct RecordTextFixture {
  static let properties: [PropertyDescription] = [
    .toOne("friend", "Everything", inverse: nil),
    .attribute("short", .integer16, optional: true),
    .attribute("long", .integer64, optional: true),
    .attribute("number", .double, optional: true),
    .attribute("single", .float, optional: true),
    .attribute("price", .decimal, optional: true),
    .attribute("text", .string, optional: true),
    .attribute("flag", .boolean, optional: true),
    .attribute("moment", .date, optional: true),
    .attribute("bytes", .binary, optional: true),
    .attribute("name", .uuid, optional: true),
    .attribute("place", .uri, optional: true),
    .attribute("passing", .string, optional: true, transient: true),
    .toMany("friends", "Everything", inverse: nil),
  ]

  let entity: EntityDescription
  private let scope: ObjectIDScope
  private(set) var table: NodeTable

  init() throws {
    let model = try ManagedObjectModel(entities: [EntityDefinition(name: "Everything", properties: Self.properties)])
    entity = model.entities[0]
    scope = ObjectIDScope(storeIdentifier: UUID(), entity: entity)
    table = NodeTable(entity: entity)
  }

  /// Adds a record; properties without a value are nil.
  mutating func add(_ reference: ReferenceID, _ values: [String: PropertyValue] = [:]) {
    let row = entity.properties.map { property in
      values[property.name] ?? (property.relationship?.isToMany == true ? .toMany([]) : .null)
    }
    table.insert([.init(reference: reference, values: row)])
  }

  func id(_ reference: ReferenceID) -> ManagedObjectID { ManagedObjectID(scope: scope, reference: reference) }

  /// What `formatter` writes of the whole table.
  func text(_ formatter: some RecordFormatter) throws -> String {
    var bytes: [UInt8] = []
    try formatter.write(table) { bytes += $0.unsafeBytes }
    return String(decoding: bytes, as: UTF8.self)
  }
}
