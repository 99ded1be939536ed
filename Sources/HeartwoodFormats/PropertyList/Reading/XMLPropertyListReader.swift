import CLibXML2
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads the records of a property list in XML, each value from libxml2's memory into a column.
final class XMLPropertyListReader: XMLPropertyListHandler {
  private typealias Word = PropertyListElements.Word
  private typealias Target = (reference: ReferenceID, entityOrdinal: Int)

  /// The containers that are open in the records.
  private enum Container {
    case entities, list, record
    /// The objects of a relationship.
    case targets
    /// One of them, with its entity.
    case target
  }

  private let schema: PropertyListSchema
  private let builders: [RecordBuilder]
  private var open: [Container] = []
  /// The element whose text is being read.
  private var leaf: Word?
  private var entity: Int?
  private var seenEntities: Set<Int> = []
  /// The key in the container whose value comes next.
  private var key: String?
  /// The place of the property whose value is being read.
  private var property: Int?
  private var expectedProperty = 0
  private var targets: [Target] = []
  private var targetReference: ReferenceID?
  private var targetEntity: Int?

  init(_ schema: PropertyListSchema, limits: XMLLimits) {
    self.schema = schema
    builders = schema.entities.map { RecordBuilder($0.description) }
    super.init(limits: limits, readsHeaderOnly: false)
  }

  func tables() -> [NodeTable] {
    zip(schema.entities, builders).map { NodeTable(entity: $0.description, groups: $1.finish()) }
  }

  private func fail(_ message: String, code: PersistenceError.Code = .fileMalformed) {
    let entity = entity.map { schema.entities[$0] }
    fail(
      message,
      code: code,
      entity: entity?.name,
      property: property.flatMap { place in entity.map { $0.properties[place].name } }
    )
  }

  // MARK: Start tags

  override func beginRecords(_ tag: XMLTag) {
    guard leaf == nil, let word = word(tag) else { return fail("The element does not belong here.") }
    switch open.last {
    case .entities, .record, .target: beginMember(word)
    case .list:
      guard word == .dict else { return fail("A record must be a dictionary.") }
      beginRecord()
    case .targets: beginTarget(word)
    case nil:
      guard word == .dict else { return fail("The records must be a dictionary with an array for each entity.") }
      open.append(.entities)
    }
  }

  private func beginRecord() {
    guard let entity, builders[entity].begin() else {
      return fail("There are more records than an atomic store keeps.")
    }
    expectedProperty = 0
    open.append(.record)
  }

  private func beginMember(_ word: Word) {
    guard key != nil else {
      guard word == .key else { return fail("In a dictionary, keys and values must alternate.") }
      return beginLeaf(word)
    }
    if word == .key { return fail("In a dictionary, keys and values must alternate.") }
    if case .entities = open.last { return beginList(word) }
    guard property != nil, case .record = open.last else { return beginLeaf(word) }
    beginValue(word)
  }

  private func beginLeaf(_ word: Word) {
    guard word != .dict, word != .array else { return fail("The value must not hold other values.") }
    leaf = word
    collectText()
  }

  private func beginList(_ word: Word) {
    guard word == .array else { return fail("The records of an entity must be an array.") }
    open.append(.list)
    key = nil
  }

  private func beginValue(_ word: Word) {
    switch (content, word) {
    case (.toMany, .array):
      targets = []
      open.append(.targets)
    case (.toMany, _): fail("A relationship to many objects must be an array.")
    case (.toOne, _): beginTarget(word)
    default: beginLeaf(word)
    }
  }

  private func beginTarget(_ word: Word) {
    guard word == .dict else { return beginLeaf(word) }
    (targetReference, targetEntity) = (nil, nil)
    savedKeys.append(key)
    key = nil
    open.append(.target)
  }

  /// The keys of the containers around the innermost.
  private var savedKeys: [String?] = []

  private var content: PropertyListSchema.Property.Content? {
    guard let entity, let property else { return nil }
    return schema.entities[entity].properties[property].content
  }

  // MARK: End tags

  override func endRecords() {
    guard let word = leaf else { return endContainer() }
    leaf = nil
    if word == .key { return takeKey() }
    guard let scalar = PropertyListText.scalar(word, text.unsafeMutableBytes) else {
      return fail("The text of the element is not a valid value.")
    }
    take(scalar)
  }

  private func takeKey() {
    let name = String(decoding: textBytes, as: UTF8.self)
    key = name
    switch open.last {
    case .entities: takeEntity(name)
    case .record where name != PropertyListFormat.referenceKey: takeProperty(name)
    default: break
    }
  }

  private func takeEntity(_ name: String) {
    guard let place = schema.place(ofEntity: name) else {
      return fail("The file has records of an entity that the model lacks.", code: .modelIncompatible)
    }
    guard seenEntities.insert(place).inserted else { return fail("A dictionary has the same key twice.") }
    entity = place
  }

  private func takeProperty(_ name: String) {
    guard let entity else { return }
    let description = schema.entities[entity]
    var place: Int?
    if expectedProperty < description.properties.count, description.properties[expectedProperty].name == name {
      place = expectedProperty
    } else {
      place = description.placesByName[name]
    }
    guard let place else {
      return fail("A record has a value that the model does not have.", code: .modelIncompatible)
    }
    property = place
    expectedProperty = place + 1
    if builders[entity].hasValue(description.properties[place].ordinal) { fail("A dictionary has the same key twice.") }
  }

  private func take(_ scalar: PropertyListScalar) {
    switch open.last {
    case .record: takeMember(scalar)
    case .targets: takeTarget(scalar.reference)
    case .target:
      switch key {
      case PropertyListFormat.referenceKey: targetReference = scalar.reference
      case PropertyListFormat.entityKey: targetEntity = scalar.string.flatMap { schema.ordinal(ofEntity: $0) }
      default: fail("A reference has a key that it cannot have.")
      }
      key = nil
    case .entities, .list, nil: fail("The value does not belong here.")
    }
  }

  private func takeMember(_ scalar: PropertyListScalar) {
    guard let entity else { return }
    let builder = builders[entity]
    guard let property else {
      guard !builder.hasReference, let reference = scalar.reference else {
        return fail("The reference of a record must be one number or one text.")
      }
      builder.setReference(reference)
      return endMember()
    }
    let description = schema.entities[entity].properties[property]
    switch description.content {
    case .attribute(let type):
      let column = builder.column(description.ordinal, byteCount: scalar.byteCount)
      if let reason = scalar.append(to: column, type) { return fail("\(reason)") }
      endMember()
    case .toOne, .toMany: takeTarget(scalar.reference)
    }
  }

  private func endMember() {
    key = nil
    property = nil
  }

  private func takeTarget(_ reference: ReferenceID?, entityOrdinal: Int? = nil) {
    guard let reference, let entity, let property else { return fail("A relationship must contain references.") }
    let description = schema.entities[entity].properties[property]
    switch description.content {
    case .attribute: break
    case .toOne(let destination), .toMany(let destination):
      let target: Target = (reference, entityOrdinal ?? destination)
      guard description.targets.contains(target.entityOrdinal) else {
        return fail(
          "A relationship refers to an entity that is abstract, or neither its destination nor a subentity of it."
        )
      }
      if case .toMany = description.content { return targets.append(target) }
      let column = builders[entity].column(description.ordinal, byteCount: 64)
      column.append(toOne: reference, entityOrdinal: target.entityOrdinal)
      endMember()
    }
  }

  private func endContainer() {
    guard let container = open.popLast() else { return }
    switch container {
    case .record:
      guard key == nil, let entity, builders[entity].hasReference else {
        return fail("A record has no reference, or a key without a value.")
      }
      builders[entity].end()
    case .targets:
      guard let entity, let property else { return }
      let ordinal = schema.entities[entity].properties[property].ordinal
      builders[entity].column(ordinal, byteCount: targets.count * 64).append(toMany: targets)
      endMember()
    case .target:
      let isWhole = key == nil && targetEntity != nil
      key = savedKeys.popLast() ?? nil
      takeTarget(isWhole ? targetReference : nil, entityOrdinal: targetEntity)
    case .entities, .list:
      if key != nil { fail("A dictionary has a key without a value.") }
      if case .list = container { entity = nil }
    }
  }
}
