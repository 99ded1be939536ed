import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

/// Reads the records of a damaged file that can be read: each record by itself, and each of its values by itself.
struct CoreDataBinarySalvage {
  private let nodes: CoreDataBinaryNodes
  private let schema: CoreDataBinarySchema
  private let salvage: StoreSalvage
  private let allowance: RecordAllowance
  private var targets = CoreDataBinaryTargets()

  init(_ nodes: CoreDataBinaryNodes, _ schema: CoreDataBinarySchema, into salvage: StoreSalvage) {
    self.nodes = nodes
    self.schema = schema
    self.salvage = salvage
    allowance = BinaryPropertyListReader.allowance(nodes.archive.list)
  }

  mutating func run() {
    let known = nodes.nodes.compactMap { node -> (node: CoreDataBinaryNodes.Node, place: Int, ReferenceID)? in
      guard let place = schema.place(ofEntity: node.entityName) else {
        noteRecord(node, "It is of the entity \(node.entityName), which the model lacks or which is abstract there.")
        return nil
      }
      do throws(PropertyListFault) {
        return (node, place, try nodes.reference(of: node))
      } catch {
        noteRecord(node, "\(error.reason)", at: error.offset)
        return nil
      }
    }
    for (node, place, reference) in known { targets.add(node.key, reference, schema.entities[place]) }
    // try?: links to records that were missing before the damage are dropped as links to missing records.
    try? targets.addMissing(of: nodes, schema)
    for (node, place, reference) in known { read(node, schema.entities[place], reference) }
  }

  // MARK: Records

  private func read(_ node: CoreDataBinaryNodes.Node, _ entity: CoreDataBinarySchema.Entity, _ reference: ReferenceID) {
    let values: BinaryPropertyList.References
    do throws(PropertyListFault) {
      values = try nodes.values(of: node)
    } catch {
      return noteRecord(node, "\(error.reason)", at: error.offset, reference)
    }
    let attributes =
      entity.attributes(ofValueCount: values.count)
      ?? (schema.isRecovered && values.count >= entity.attributes.count ? entity.attributes : nil)
    guard let attributes else {
      return noteRecord(node, "It has another number of values than its entity in the model.", at: nil, reference)
    }
    salvage.addNode(reference, to: entity.description, byteRange: range(of: node.object)) { draft in
      for index in 0..<min(values.count, attributes.count) {
        guard let ordinal = attributes[index] else { continue }
        readValue(values[index], ordinal, into: &draft)
      }
      readRelationships(of: node, entity, into: &draft)
    }
  }

  private func readValue(_ item: Int, _ ordinal: Int, into draft: inout NodeDraft) {
    guard let attribute = draft.entity.properties[ordinal].attribute else { return }
    do {
      let object = try nodes.archive.target(item)
      try draft.setValue(try value(of: object, attribute), at: ordinal)
    } catch {
      note(.values, error, ordinal, of: draft, count: 1)
    }
  }

  private func value(
    of object: Int,
    _ attribute: AttributeDescription
  ) throws(PropertyListFault) -> PropertyValue {
    let value = try nodes.archive.value(object)
    if case .null = value { return .null }
    var count = 0
    if case .scalar(let scalar) = value { count = scalar.byteCount }
    guard allowance.take(count + 64) else {
      throw fault(object, "The values take far more memory than the file has bytes.")
    }
    let column = ColumnBuilder(kind: ColumnKind(.attribute(attribute)))
    if attribute.type == .transformable || attribute.type == .undefined, !value.isData {
      try nodes.archive.archive(of: object, allowance).withUnsafeBytes { column.append(bytes: $0) }
    } else if let reason = value.append(to: column, attribute.type) {
      throw fault(object, reason)
    }
    return column.sealed().value(row: 0, type: attribute.type, scopes: [])
  }

  private func fault(_ object: Int, _ reason: StaticString) -> PropertyListFault {
    // try?: an object whose place is not known has none to report.
    PropertyListFault(offset: (try? nodes.archive.list.offset(object)) ?? 0, reason: reason)
  }

  // MARK: Relationships

  private func readRelationships(
    of node: CoreDataBinaryNodes.Node,
    _ entity: CoreDataBinarySchema.Entity,
    into draft: inout NodeDraft
  ) {
    let links: [(name: Int, list: Int)]
    do throws(PropertyListFault) {
      links = try nodes.relationships(of: node)
    } catch {
      return note(.links, error, nil, of: draft, count: nil)
    }
    for link in links {
      // try?: without a name, the relationship is not known.
      guard let name = try? nodes.archive.text(link.name), let place = entity.relationshipsByName[name] else {
        note(.links, fault(link.list, "A relationship is not known."), nil, of: draft, count: nil)
        continue
      }
      readRelationship(link.list, entity.relationships[place], into: &draft)
    }
  }

  private func readRelationship(
    _ list: Int,
    _ relationship: CoreDataBinarySchema.Relationship,
    into draft: inout NodeDraft
  ) {
    do {
      guard let items = try nodes.archive.items(list), allowance.take(items.count * 64) else {
        throw fault(list, "The records that a relationship refers to are not an array.")
      }
      let found = (0..<items.count).compactMap { target(items[$0], relationship, of: draft) }
      if relationship.isToMany {
        try draft.setValue(.toMany(found), at: relationship.ordinal)
      } else if let only = found.first {
        try draft.setValue(.toOne(only), at: relationship.ordinal)
        if found.count > 1 {
          let fault = fault(list, "A relationship to one object refers to several.")
          note(.links, fault, relationship.ordinal, of: draft, count: found.count - 1)
        }
      }
    } catch {
      note(.links, error, relationship.ordinal, of: draft, count: nil)
    }
  }

  /// Returns the record that a relationship refers to; nil if that cannot be read, which is noted. A missing record is
  /// taken for one of the first entity that the relationship may have, and the link is dropped later.
  private func target(
    _ item: Int,
    _ relationship: CoreDataBinarySchema.Relationship,
    of draft: NodeDraft
  ) -> ManagedObjectID? {
    do throws(PropertyListFault) {
      let key = try nodes.key(item)
      let ordinal = targets[key]?.entityOrdinal ?? relationship.targets.first
      guard let ordinal, relationship.targets.contains(ordinal),
        let entity = schema.entities.first(where: { $0.description.ordinal == ordinal })
      else { throw fault(item, "A relationship refers to a record of another entity than the model says.") }
      return salvage.loader.objectID(targets[key]?.reference ?? .integer(key), of: entity.description)
    } catch {
      note(.links, error, relationship.ordinal, of: draft, count: 1)
      return nil
    }
  }

  // MARK: Losses

  private func note(
    _ kind: SalvageReport.Loss.Kind,
    _ error: any Error,
    _ ordinal: Int?,
    of draft: NodeDraft,
    count: Int?
  ) {
    let fault = error as? PropertyListFault
    let start = nodes.archive.start
    salvage.note(
      .init(
        kind,
        entity: draft.entity.name,
        property: ordinal.map { draft.entity.properties[$0].name },
        references: [draft.reference],
        count: count,
        byteRange: fault.map { (start + $0.offset)..<(start + $0.offset + 1) },
        reason: fault.map { "\($0.reason)" } ?? "\(error)"
      )
    )
  }

  private func noteRecord(
    _ node: CoreDataBinaryNodes.Node,
    _ reason: String,
    at offset: Int? = nil,
    _ reference: ReferenceID? = nil
  ) {
    let start = nodes.archive.start
    salvage.note(
      .init(
        .records,
        entity: node.entityName,
        references: [reference ?? .integer(node.key)],
        count: 1,
        byteRange: offset.map { (start + $0)..<(start + $0 + 1) } ?? range(of: node.object),
        reason: reason
      )
    )
  }

  /// Returns the bytes of an object in the file.
  private func range(of object: Int) -> Range<Int>? {
    // try?: the place of a damaged object may be lost.
    guard let start = try? nodes.archive.list.offset(object), let end = try? nodes.archive.list.end(ofObjectAt: start)
    else { return nil }
    return (nodes.archive.start + start)..<(nodes.archive.start + end)
  }
}

// MARK: The records of an archive that may be damaged

extension CoreDataBinaryNodes {
  /// Finds the records among all objects of an archive, whether the map of the records is damaged or not.
  ///
  /// - Parameter isKnown: returns whether there may be an entity of a name.
  init(remainsOf archive: ArchivedObjects, isKnown: (String) -> Bool = { _ in true }) {
    var nodes: [Node] = []
    var seen: Set<Int64> = []
    for object in 0..<archive.list.objectCount {
      guard let node = Self.node(object, in: archive), isKnown(node.entityName), seen.insert(node.key).inserted else {
        continue
      }
      nodes.append(node)
    }
    var number: Int64?
    // try?: without it, the number follows from the records.
    if let next = try? archive.root(CoreDataBinaryWords.nextNumber) { number = try? archive.integer(next) }
    self.init(archive: archive, nodes: nodes, nextNumber: number)
  }

  /// The most members that a record is looked for in. It has six.
  private static let mostMembers = 16

  private static func node(_ object: Int, in archive: ArchivedObjects) -> Node? {
    // try?: an object that cannot be read is no record that can be.
    guard case .dictionary(let keys, _)? = try? archive.list.object(object), keys.count <= mostMembers,
      let own = try? archive.member(CoreDataBinaryWords.key, of: object), let key = try? archive.integer(own),
      let named = try? archive.member(CoreDataBinaryWords.entityName, of: object), let name = try? archive.text(named)
    else { return nil }
    return Node(key: key, entityName: name, object: object)
  }

  /// The keys of all records, by the map of the records; nil if it is lost.
  var mappedKeys: [Int64?]? {
    // try?: a damaged map shows nothing.
    guard let map = try? archive.root(CoreDataBinaryWords.mapData), let (keys, _) = try? archive.pairs(map) else {
      return nil
    }
    return (0..<keys.count).map { index in
      // try?: the key of a record that is lost may be lost, too.
      (try? archive.target(keys[index])).flatMap { try? archive.integer($0) }
    }
  }
}

// MARK: The store

extension CoreDataBinaryStore: SalvagingStore {
  /// Reads each record by itself. If the header, the table of the objects or the map of the records is damaged, the
  /// parts of the file and the records are looked for among its bytes.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    let remains = try CoreDataBinaryRemains(file, unsoundRanges: salvage.unsoundRanges)
    for fault in remains.faults { salvage.note(.fileParts, fault, count: 0) }
    if let identifier = remains.identifier {
      salvage.loader.metadata = CoreDataMetadata.metadata(
        remains.members,
        identifier: identifier,
        storeType: .coreDataBinary
      )
    } else if !remains.members.isEmpty {
      salvage.note(.init(.fileParts, count: 0, reason: "The identifier of the store is lost. It gets another."))
    }
    guard let archive = remains.archive else {
      throw remains.faults.first ?? CoreDataBinaryHead.malformed("The records are missing.", at: 0, file.path)
    }
    let nodes = CoreDataBinaryNodes(remainsOf: archive)
    noteMissing(nodes, salvage)
    var reader = CoreDataBinarySalvage(nodes, schema, into: salvage)
    reader.run()
    let greatest = max(remains.header.greatestKey, nodes.nodes.lazy.map(\.key).max() ?? 0)
    if let next = nodes.nextNumber, next > greatest {
      salvage.loader.nextReferenceNumber = next
    } else if greatest > 0, greatest < .max {
      salvage.loader.nextReferenceNumber = greatest + 1
    }
  }

  /// Notes the records that the map of the records names, and that are not among the objects.
  private func noteMissing(_ nodes: CoreDataBinaryNodes, _ salvage: StoreSalvage) {
    let reason = "The record is missing or damaged."
    guard let keys = nodes.mappedKeys else {
      let reason = "The list of the records is lost, so their number is not known."
      return salvage.note(.init(.records, count: nil, reason: reason))
    }
    let found = Set(nodes.nodes.map(\.key))
    let missing = keys.compactMap(\.self).filter { !found.contains($0) }
    for key in missing {
      salvage.note(.init(.records, references: [.integer(key)], count: 1, reason: reason))
    }
    // A key that is damaged is that of a record, which may be found by its own.
    let rest = keys.count - found.count - missing.count
    if rest > 0 { salvage.note(.init(.records, count: rest, reason: reason)) }
  }

  /// Returns the model in the metadata, if it can be read.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    // try?: a model that cannot be read is not a sound one.
    guard let remains = try? CoreDataBinaryRemains(file) else { return nil }
    return try? CoreDataMetadata.model(remains.members)
  }
}
