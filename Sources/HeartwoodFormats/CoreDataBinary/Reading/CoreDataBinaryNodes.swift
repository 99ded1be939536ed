import HeartwoodModel
import HeartwoodStore

/// The records of a file, as they lie in the archive: their keys, their entities and the places of the rest.
struct CoreDataBinaryNodes {
  struct Node {
    let key: Int64
    let entityName: String
    /// The number of the object in the archive.
    let object: Int
  }

  let archive: ArchivedObjects
  let nodes: [Node]
  /// The least number that no record has had, if it differs from the one that follows from the header.
  let nextNumber: Int64?

  init(archive: ArchivedObjects, nodes: [Node], nextNumber: Int64?) {
    self.archive = archive
    self.nodes = nodes
    self.nextNumber = nextNumber
  }

  /// - Parameter sortsByKey: Whether the records come in the order of their keys, and not in that of the file.
  init(
    _ region: ByteRegion,
    _ header: CoreDataBinaryHeader,
    sortsByKey: Bool = false
  ) throws(PropertyListFault) {
    archive = try ArchivedObjects(region, in: header.records)
    guard let map = try archive.root(CoreDataBinaryWords.mapData), let (keys, values) = try archive.pairs(map) else {
      throw PropertyListFault(offset: 0, reason: "The archive of the records has no dictionary called mapData.")
    }
    if let number = try archive.root(CoreDataBinaryWords.nextNumber) {
      nextNumber = try archive.integer(number)
    } else {
      nextNumber = nil
    }
    var nodes: [Node] = []
    var names: [Int: String] = [:]
    var seen: Set<Int64> = []
    for index in 0..<keys.count {
      let object = try archive.target(values[index])
      let node = try Self.node(object, key: try archive.target(keys[index]), of: archive, &names)
      guard seen.insert(node.key).inserted else {
        throw PropertyListFault(offset: try archive.list.offset(object), reason: "Two records have the same key.")
      }
      nodes.append(node)
    }
    self.nodes = sortsByKey ? nodes.sorted { $0.key < $1.key } : nodes
  }

  /// - Parameter names: The texts of the objects that are names of entities.
  private static func node(
    _ object: Int,
    key: Int,
    of archive: ArchivedObjects,
    _ names: inout [Int: String]
  ) throws(PropertyListFault) -> Node {
    let offset = try archive.list.offset(object)
    guard let number = try archive.integer(key) else {
      throw PropertyListFault(offset: offset, reason: "The key of a record is not a number.")
    }
    if let own = try archive.member(CoreDataBinaryWords.key, of: object) {
      guard try archive.integer(own) == number else {
        throw PropertyListFault(offset: offset, reason: "A record has another key than the one that it is found by.")
      }
    }
    guard let named = try archive.member(CoreDataBinaryWords.entityName, of: object) else {
      throw PropertyListFault(offset: offset, reason: "A record does not name its entity.")
    }
    if let name = names[named] { return Node(key: number, entityName: name, object: object) }
    guard let name = try archive.text(named) else {
      throw PropertyListFault(offset: offset, reason: "The name of a record's entity is not text.")
    }
    names[named] = name
    return Node(key: number, entityName: name, object: object)
  }
}

extension CoreDataBinaryNodes {
  /// Returns the values of a record, by position.
  func values(of node: Node) throws(PropertyListFault) -> BinaryPropertyList.References {
    guard let list = try archive.member(CoreDataBinaryWords.attributeValues, of: node.object),
      let values = try archive.items(list)
    else {
      throw PropertyListFault(offset: try archive.list.offset(node.object), reason: "A record has no list of values.")
    }
    return values
  }

  /// Returns the relationships of a record that have destinations, each with the list of these.
  func relationships(of node: Node) throws(PropertyListFault) -> [(name: Int, list: Int)] {
    guard let related = try archive.member(CoreDataBinaryWords.relatedNodes, of: node.object) else { return [] }
    if case .null = try archive.value(related) { return [] }
    guard let (names, lists) = try archive.pairs(related) else {
      throw PropertyListFault(
        offset: try archive.list.offset(related),
        reason: "The relationships are not a dictionary."
      )
    }
    var relationships: [(Int, Int)] = []
    for index in 0..<names.count {
      relationships.append((try archive.target(names[index]), try archive.target(lists[index])))
    }
    return relationships
  }

  /// Returns the key of a record in the list of a relationship.
  func key(_ value: Int) throws(PropertyListFault) -> Int64 {
    let object = try archive.target(value)
    guard let key = try archive.integer(object) else {
      throw PropertyListFault(
        offset: try archive.list.offset(object),
        reason: "A relationship refers to something that is not a key."
      )
    }
    return key
  }

  /// Returns the reference of a record: its key, or the reference that is stored beside it.
  func reference(of node: Node) throws(PropertyListFault) -> ReferenceID {
    guard let own = try archive.member(CoreDataBinaryWords.reference, of: node.object) else {
      return .integer(node.key)
    }
    return try reference(own)
  }

  private func reference(_ object: Int) throws(PropertyListFault) -> ReferenceID {
    if case .scalar(let scalar) = try archive.value(object), let reference = scalar.reference { return reference }
    throw PropertyListFault(
      offset: try archive.list.offset(object),
      reason: "The reference of a record must be a number or a text."
    )
  }

  /// Returns the deleted records that relationships refer to by keys that differ from their references.
  func missingRecords() throws(PropertyListFault) -> [(key: Int64, entityName: String, reference: ReferenceID)] {
    guard let list = try archive.root(CoreDataBinaryWords.missingRecords), let items = try archive.items(list) else {
      return []
    }
    var records: [(Int64, String, ReferenceID)] = []
    for index in 0..<items.count {
      let record = try archive.target(items[index])
      guard let parts = try archive.items(record), parts.count == 3,
        let entityName = try archive.text(try archive.target(parts[1]))
      else {
        throw PropertyListFault(
          offset: try archive.list.offset(record),
          reason: "The description of a missing record is incomplete."
        )
      }
      records.append((try key(parts[0]), entityName, try reference(try archive.target(parts[2]))))
    }
    return records
  }
}
