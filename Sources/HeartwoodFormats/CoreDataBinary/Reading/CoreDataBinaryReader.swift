import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The records that relationships may refer to, by their keys.
struct CoreDataBinaryTargets {
  struct Target {
    let reference: ReferenceID
    let entityOrdinal: Int
  }

  private var targets: [Int64: Target] = [:]

  subscript(key: Int64) -> Target? { targets[key] }

  mutating func add(_ key: Int64, _ reference: ReferenceID, _ entity: CoreDataBinarySchema.Entity) {
    targets[key] = Target(reference: reference, entityOrdinal: entity.description.ordinal)
  }

  /// Adds the records that relationships refer to and that are not there, as far as the model has their entities.
  mutating func addMissing(of nodes: CoreDataBinaryNodes, _ schema: CoreDataBinarySchema) throws(PropertyListFault) {
    for record in try nodes.missingRecords() where targets[record.key] == nil {
      guard let place = schema.place(ofEntity: record.entityName) else { continue }
      add(record.key, record.reference, schema.entities[place])
    }
  }
}

/// Reads the records of a file into columns.
final class CoreDataBinaryReader {
  private let schema: CoreDataBinarySchema
  private let loader: StoreLoader
  private let path: String
  private let nodes: CoreDataBinaryNodes
  private let allowance: RecordAllowance
  private let builders: [RecordBuilder]
  private var targets = CoreDataBinaryTargets()
  /// The number of values of an entity's records.
  private(set) var valueCounts: [String: Int] = [:]
  private var relationshipNames: [Int: String] = [:]
  /// The record that is being read, for error messages.
  private var current: (node: CoreDataBinaryNodes.Node, place: Int?)?
  private var currentAttribute: Int?
  private var currentRelationship: String?
  private var isForeign = false

  /// The approximate memory in bytes of a value without a length.
  private static let valueSize = 64

  init(
    _ file: StoreInput,
    _ region: ByteRegion,
    _ head: CoreDataBinaryHead,
    schema: CoreDataBinarySchema,
    loader: StoreLoader
  ) throws(PersistenceError) {
    self.schema = schema
    self.loader = loader
    path = file.path
    do throws(PropertyListFault) {
      nodes = try CoreDataBinaryNodes(region, head.header, sortsByKey: head.hasUnorderedRecords)
    } catch {
      throw CoreDataBinaryHead.malformed(
        "\(error.reason)",
        at: head.header.records.lowerBound + error.offset,
        file.path
      )
    }
    allowance = BinaryPropertyListReader.allowance(nodes.archive.list)
    builders = schema.entities.map { RecordBuilder($0.description) }
  }

  /// Returns the least number that no record has had.
  func nextNumber(_ header: CoreDataBinaryHeader) -> Int64 {
    nodes.nextNumber ?? (header.greatestKey >= 0 && header.greatestKey < .max ? header.greatestKey + 1 : 1)
  }

  /// Returns the tables of all entities that have records of their own, in the order of the model.
  func tables() throws(PersistenceError) -> [NodeTable] {
    do throws(PropertyListFault) {
      let places = try places()
      for (index, place) in places.enumerated() {
        current = (nodes.nodes[index], place)
        try read(nodes.nodes[index], place)
      }
    } catch {
      throw explained(error)
    }
    return zip(schema.entities, builders).map { NodeTable(entity: $0.description, groups: $1.finish()) }
  }

  private func explained(_ fault: PropertyListFault) -> PersistenceError {
    var error = CoreDataBinaryHead.malformed("\(fault.reason)", at: nodes.archive.start + fault.offset, path)
    if isForeign {
      error.code = .modelIncompatible
      error.recovery = .giveModel
    }
    guard let current else { return error }
    error.context.entity = current.node.entityName
    if let place = current.place {
      let entity = schema.entities[place].description
      error.context.property = currentRelationship ?? currentAttribute.map { entity.properties[$0].name }
      error.context.objectIDs = [loader.objectID(.integer(current.node.key), of: entity)]
    }
    return error
  }

  private func fault(_ object: Int, _ reason: StaticString) throws(PropertyListFault) -> PropertyListFault {
    PropertyListFault(offset: try nodes.archive.list.offset(object), reason: reason)
  }

  /// Returns the place of each record's entity, and notes the possible destinations of relationships.
  private func places() throws(PropertyListFault) -> [Int] {
    var places: [Int] = []
    for node in nodes.nodes {
      current = (node, nil)
      guard let place = schema.place(ofEntity: node.entityName) else {
        isForeign = true
        throw try fault(
          node.object,
          "The file has a record of an entity that the model lacks, or that is abstract there."
        )
      }
      places.append(place)
      targets.add(node.key, try nodes.reference(of: node), schema.entities[place])
    }
    try targets.addMissing(of: nodes, schema)
    return places
  }

  // MARK: Records

  private func read(_ node: CoreDataBinaryNodes.Node, _ place: Int) throws(PropertyListFault) {
    let (entity, builder) = (schema.entities[place], builders[place])
    let values = try nodes.values(of: node)
    guard let attributes = entity.attributes(ofValueCount: values.count) ?? recovered(entity, values.count) else {
      isForeign = true
      throw try fault(
        node.object,
        "A record has another number of values than its entity has attributes and relationships in the model."
      )
    }
    valueCounts[entity.name] = max(valueCounts[entity.name] ?? 0, values.count)
    guard builder.begin() else {
      throw try fault(node.object, "There are more records than an atomic store keeps.")
    }
    builder.setReference(targets[node.key]?.reference ?? .integer(node.key))
    for index in 0..<values.count {
      try read(
        try nodes.archive.target(values[index]),
        index < attributes.count ? attributes[index] : nil,
        entity,
        builder
      )
    }
    for relationship in try nodes.relationships(of: node) { try read(relationship, entity, builder) }
    builder.end()
  }

  /// Returns the attributes of a recovered model, which has none at positions without values.
  private func recovered(_ entity: CoreDataBinarySchema.Entity, _ count: Int) -> [Int?]? {
    schema.isRecovered && count >= entity.attributes.count ? entity.attributes : nil
  }

  private func read(
    _ object: Int,
    _ ordinal: Int?,
    _ entity: CoreDataBinarySchema.Entity,
    _ builder: RecordBuilder
  ) throws(PropertyListFault) {
    let value = try nodes.archive.value(object)
    if case .null = value { return }
    guard let ordinal else {
      isForeign = true
      throw try fault(object, "A record has a value that the model does not have.")
    }
    guard let type = entity.description.traits[ordinal].attributeType else { return }
    currentAttribute = ordinal
    try append(value, of: object, type, to: builder, ordinal)
    currentAttribute = nil
  }

  private func append(
    _ value: ArchivedObjects.Value,
    of object: Int,
    _ type: AttributeType,
    to builder: RecordBuilder,
    _ ordinal: Int
  ) throws(PropertyListFault) {
    var count = Self.valueSize
    if case .scalar(let scalar) = value { count += scalar.byteCount }
    guard allowance.take(count) else {
      throw try fault(object, "The values take far more memory than the file has bytes.")
    }
    if type == .transformable || type == .undefined, !value.isData {
      let bytes = try nodes.archive.archive(of: object, allowance)
      let column = builder.column(ordinal, byteCount: bytes.count)
      return bytes.withUnsafeBytes { column.append(bytes: $0) }
    }
    if let reason = value.append(to: builder.column(ordinal, byteCount: count), type) {
      throw try fault(object, reason)
    }
  }

  // MARK: Relationships

  private func read(
    _ link: (name: Int, list: Int),
    _ entity: CoreDataBinarySchema.Entity,
    _ builder: RecordBuilder
  ) throws(PropertyListFault) {
    let name = try relationshipName(link.name)
    currentRelationship = name
    guard let place = entity.relationshipsByName[name] else {
      isForeign = true
      throw try fault(link.list, "A record has a relationship that the model lacks.")
    }
    let relationship = entity.relationships[place]
    guard let items = try nodes.archive.items(link.list) else {
      throw try fault(link.list, "The records that a relationship refers to are not an array.")
    }
    guard allowance.take(items.count * Self.valueSize) else {
      throw try fault(link.list, "The values take far more memory than the file has bytes.")
    }
    guard !builder.hasValue(relationship.ordinal) else {
      throw try fault(link.list, "A record has a relationship twice.")
    }
    var found: [(reference: ReferenceID, entityOrdinal: Int)] = []
    for index in 0..<items.count { found.append(try target(items[index], relationship)) }
    let column = builder.column(relationship.ordinal, byteCount: items.count * Self.valueSize)
    if relationship.isToMany {
      column.append(toMany: found)
    } else if let only = found.first {
      guard found.count == 1 else {
        isForeign = true
        throw try fault(link.list, "A relationship to one object refers to several.")
      }
      column.append(toOne: only.reference, entityOrdinal: only.entityOrdinal)
    }
    currentRelationship = nil
  }

  private func relationshipName(_ object: Int) throws(PropertyListFault) -> String {
    if let name = relationshipNames[object] { return name }
    guard let name = try nodes.archive.text(object) else {
      throw try fault(object, "The name of a relationship is not text.")
    }
    relationshipNames[object] = name
    return name
  }

  /// Returns the destination for a key. A missing record is taken for one of the first entity that the relationship may
  /// have: a deletion may leave links to records that are missing.
  private func target(
    _ item: Int,
    _ relationship: CoreDataBinarySchema.Relationship
  ) throws(PropertyListFault) -> (reference: ReferenceID, entityOrdinal: Int) {
    let key = try nodes.key(item)
    if let target = targets[key] {
      guard relationship.targets.contains(target.entityOrdinal) else {
        isForeign = true
        throw try fault(item, "A relationship refers to a record of another entity than the model says.")
      }
      return (target.reference, target.entityOrdinal)
    }
    guard let first = relationship.targets.first else {
      throw try fault(item, "A relationship refers to an object that no entity of the model has.")
    }
    return (.integer(key), first)
  }
}

// MARK: ArchivedObjects.Value: columns

extension ArchivedObjects.Value {
  /// Whether it is binary data.
  var isData: Bool { if case .scalar(.data) = self { true } else { false } }

  private static let wrongType: StaticString = "The value is of another kind than the attribute."
  private static let wrongNumber: StaticString = "The number does not fit the type of the attribute."

  /// Appends the value to the column of an attribute; returns the fault if it does not fit.
  ///
  /// A number may have been archived as one of another kind: applications set a Boolean or a float to an integer, and
  /// Core Data keeps the number that they set.
  func append(to column: ColumnBuilder, _ type: AttributeType) -> StaticString? {
    switch (type, self) {
    case (.uuid, .uuid(let uuid)): column.append(uuid: uuid)
    case (.decimal, .decimal(let decimal)):
      guard let number = decimal.decimal else { return Self.wrongNumber }
      column.append(decimal: number)
    case (.double, .decimal(let decimal)), (.float, .decimal(let decimal)):
      guard let number = Double(decimal.text) else { return Self.wrongNumber }
      return PropertyListScalar.real(number).append(to: column, type)
    case (.uri, .uri(let text)):
      guard URL(string: text) != nil else { return "The value is not a URI." }
      var text = text
      text.withUTF8 { column.append(bytes: UnsafeRawBufferPointer($0)) }
    case (_, .scalar(let scalar)): return Self.append(scalar, to: column, type)
    default: return Self.wrongType
    }
    return nil
  }

  private static func append(
    _ scalar: PropertyListScalar,
    to column: ColumnBuilder,
    _ type: AttributeType
  ) -> StaticString? {
    switch (type, scalar) {
    case (.string, .text), (.string, .wideText), (.date, .date), (.binary, .data), (.transformable, .data),
      (.double, .real), (.double, .integer), (.float, .real), (.float, .integer), (.decimal, .integer),
      (.boolean, .boolean), (.integer16, .integer), (.integer32, .integer), (.integer64, .integer):
      return scalar.append(to: column, type)
    case (.undefined, .data(let bytes)): column.append(bytes: bytes)
    case (.boolean, .integer(let number)):
      guard number == 0 || number == 1 else { return wrongNumber }
      column.append(boolean: number == 1)
    case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)), (.integer64, .boolean(let flag)),
      (.double, .boolean(let flag)), (.float, .boolean(let flag)), (.decimal, .boolean(let flag)):
      return PropertyListScalar.integer(flag ? 1 : 0).append(to: column, type)
    case (.integer16, .real(let number)), (.integer32, .real(let number)), (.integer64, .real(let number)),
      (.boolean, .real(let number)):
      guard let whole = Int64(exactly: number) else { return wrongNumber }
      return append(.integer(whole), to: column, type)
    case (.decimal, .real(let number)):
      guard let decimal = NumberText.decimal("\(number)") else { return wrongNumber }
      column.append(decimal: decimal)
    default: return wrongType
    }
    return nil
  }
}
