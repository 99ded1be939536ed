import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// A file that is opened with the model that was made of its tables.
struct RecoveredStore {
  let path: String
  let recovered: RecoveredModel
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  private let queue: DatabaseQueue

  var model: ManagedObjectModel { recovered.model }

  init(path: String) throws {
    self.path = path
    queue = try DatabaseQueue(path: path)
    recovered = try SQLiteStore.recoverModel(ofStoreAt: URL(filePath: path))
    coordinator = try SQLiteBench.coordinator(recovered.model)
    var options = StoreOptions()
    options[.isReadOnly] = true
    store = try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: path), options: options)
  }

  func query<Value>(_ body: (Database) throws -> Value) throws -> Value { try queue.read(body) }

  /// Holds all values and links against what SQL says of them; returns how many values were looked at.
  @discardableResult
  func checkAgainstSQL() throws -> Int {
    let contents = try store.engine.contents()
    let schema = try query { db in
      try SQLiteSchema.existing(in: db, model: model, entities: model.entities, path: path)
    }
    var count = 0
    for placement in schema.entities.compactMap(\.self) {
      let sql = "SELECT * FROM \"\(placement.tableName)\" WHERE Z_ENT = \(placement.number) ORDER BY Z_PK"
      let rows = try query { try Row.fetchAll($0, sql: sql) }
      let nodes = Array(contents.nodes(of: placement.entity))
      #expect(nodes.map(\.reference) == rows.map { .integer($0["Z_PK"]) }, "\(placement.entity.name)")
      for (node, row) in zip(nodes, rows) { count += try check(node, row, placement) }
    }
    return count
  }

  private func check(_ node: AtomicStoreCacheNode, _ row: Row, _ placement: EntityPlacement) throws -> Int {
    for (ordinal, property) in placement.entity.properties.enumerated() {
      let (value, name) = (node[property.name], Comment(rawValue: "\(placement.entity.name).\(property.name)"))
      switch placement.properties[ordinal] {
      case .attribute(let place):
        #expect(CorpusStoreTests.isSame(value, row[place.column], place.storage), name)
      case .toOne(let place):
        let key: Int64? = row[place.column]
        #expect(value.objectIDs.map(\.reference) == (key.map { [.integer($0)] } ?? []), name)
      case .toMany(let place):
        let sql = "SELECT Z_PK FROM \"\(place.table)\" WHERE \"\(place.column)\" = ?"
        try check(value, sql, node, name)
      case .join(let place) where !place.isReflexive:
        let sql = "SELECT \"\(place.otherColumn)\" FROM \"\(place.table)\" WHERE \"\(place.ownColumn)\" = ?"
        try check(value, sql, node, name)
      case .join, nil: break
      }
    }
    return placement.entity.properties.count
  }

  private func check(_ value: PropertyValue, _ sql: String, _ node: AtomicStoreCacheNode, _ name: Comment) throws {
    guard case .integer(let key) = node.reference else { return }
    let keys = try query { try Int64.fetchSet($0, sql: sql, arguments: [key]) }
    #expect(Set(value.objectIDs.map(\.reference)) == Set(keys.map { .integer($0) }), name)
  }
}

// MARK: RecoveryComparison

/// A recovered model beside the one that a file was written with.
struct RecoveryComparison {
  private(set) var attributeCount = 0
  private(set) var sameTypeCount = 0
  private(set) var toOneCount = 0
  /// To-one relationships that were taken for numbers.
  private(set) var numbers: [String] = []
  private(set) var toManyCount = 0
  /// What the recovered model has otherwise than the real one, but for what no file tells.
  private(set) var mistakes: [String] = []

  private let real: ManagedObjectModel
  private let recovered: ManagedObjectModel

  init(_ real: ManagedObjectModel, _ recovered: ManagedObjectModel) {
    (self.real, self.recovered) = (real, recovered)
    for entity in real.entities { compare(entity) }
    let names = Set(real.entities.map(\.name))
    for entity in recovered.entities where !names.contains(entity.name) {
      mistakes.append("\(entity.name) is no entity")
    }
  }

  private mutating func compare(_ entity: EntityDescription) {
    guard let other = recovered.entity(named: entity.name) else { return mistakes.append("\(entity.name) is missing") }
    if entity.superentity?.name != other.superentity?.name { mistakes.append("\(entity.name) has another parent") }
    for property in entity.properties where !property.isTransient {
      switch property {
      case .attribute(let attribute): compare(attribute, of: entity)
      case .relationship(let relationship): compare(relationship, of: entity)
      }
    }
  }

  /// The properties of the hierarchy of an entity: which of its entities has one shows by the rows alone.
  private func properties(near entity: EntityDescription, _ name: String) -> [PropertyDescription] {
    recovered.entities.filter { $0.rootEntity.name == entity.rootEntity.name }.flatMap(\.properties).filter {
      let found = $0.name.lowercased()
      // A second column of a name has a digit behind it.
      return found == name.lowercased() || found.dropLast() == name.lowercased() && found.last?.isNumber == true
    }
  }

  private mutating func compare(_ attribute: AttributeDescription, of entity: EntityDescription) {
    attributeCount += 1
    let found = properties(near: entity, attribute.name).compactMap(\.attribute)
    guard !found.isEmpty else { return mistakes.append("\(entity.name).\(attribute.name) is missing") }
    if found.contains(where: { $0.type == attribute.type }) { sameTypeCount += 1 }
    if !found.contains(where: { Self.holds($0.type, attribute.type) }) {
      mistakes.append("\(entity.name).\(attribute.name) is \(attribute.type), and was taken for \(found[0].type)")
    }
  }

  /// Whether values of a type are the same in the other: the file does not tell more.
  private static func holds(_ recovered: AttributeType, _ real: AttributeType) -> Bool {
    switch real {
    case .integer16, .integer32, .integer64, .boolean: recovered == .integer64 || recovered == .boolean
    case .float, .double: recovered == .double
    case .uri, .string: recovered == .string
    case .binary, .transformable, .undefined, .uuid: recovered == .binary || recovered == .uuid
    case .date, .decimal: recovered == real
    }
  }

  private mutating func compare(_ relationship: RelationshipDescription, of entity: EntityDescription) {
    let inverse = relationship.inverseRelationshipName.flatMap {
      real.entity(named: relationship.destinationEntityName)?.property(named: $0)?.relationship
    }
    // The file has no name of those.
    if relationship.isToMany, inverse?.isToMany == false { return }
    if relationship.isToMany { toManyCount += 1 } else { toOneCount += 1 }
    let found = properties(near: entity, relationship.name)
    let same = found.compactMap(\.relationship).filter { $0.isToMany == relationship.isToMany }
    let name = "\(entity.name).\(relationship.name)"
    if same.contains(where: { $0.destinationEntityName == relationship.destinationEntityName }) {
      if relationship.isToMany, !same.contains(where: { $0.isOrdered == relationship.isOrdered }) {
        mistakes.append("\(name) has another order")
      }
      return
    }
    if !relationship.isToMany, found.contains(where: { $0.attribute?.type == .integer64 }) {
      return numbers.append(name)
    }
    let destinations = same.map(\.destinationEntityName)
    mistakes.append("\(name) leads to \(relationship.destinationEntityName), and was taken for one to \(destinations)")
  }
}
