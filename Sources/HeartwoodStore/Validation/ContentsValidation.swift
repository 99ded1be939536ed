package import HeartwoodModel

/// Whether everything that a store keeps fits together: values, references, inverse relationships, and what must be unique.
package struct ContentsValidation {
  /// Something that is wrong with a record.
  package struct Finding: Sendable, Hashable, CustomStringConvertible {
    package let objectID: ManagedObjectID
    package let message: String

    package var description: String { "\(objectID.entity.name) \(objectID.reference): \(message)" }
  }

  private let contents: StoreContents
  private let limit: Int
  private var findings: [Finding] = []

  /// Checks `contents` and gives up to `limit` findings, in the order of the records; what must be unique and is not
  /// comes last. O(values).
  package static func findings(in contents: StoreContents, limit: Int) throws(PersistenceError) -> [Finding] {
    var validation = ContentsValidation(contents: contents, limit: limit)
    try validation.run()
    return validation.findings
  }

  private init(contents: StoreContents, limit: Int) {
    self.contents = contents
    self.limit = limit
  }

  private mutating func run() throws(PersistenceError) {
    for entity in contents.entities {
      try contents.table(of: entity).checkReferences()
      for node in contents.nodes(of: entity) {
        guard findings.count < limit else { return }
        try check(node)
      }
    }
    for conflict in contents.constraintConflicts(limit: limit - findings.count) { note(conflict) }
  }

  private mutating func note(_ conflict: ConstraintConflict) {
    let (other, names) = (conflict.conflictingID, conflict.constraint.joined(separator: ", "))
    let message = "\(names) must be unique, and \(other.entity.name) \(other.reference) has the same."
    findings.append(Finding(objectID: conflict.objectID, message: message))
  }

  private mutating func check(_ node: AtomicStoreCacheNode) throws(PersistenceError) {
    let values = node.values
    for fault in RecordValidation.faults(in: values, of: node.objectID) { note(node, fault.message) }
    for (ordinal, value) in values.enumerated() {
      guard let target = node.entity.relationshipTargets[ordinal] else { continue }
      let ids = value.objectIDs
      for id in ids { try checkLink(node, ordinal, target, id) }
      if Set(ids).count < ids.count { note(node, "\(node.entity.properties[ordinal].name) leads to an object twice.") }
    }
  }

  private mutating func checkLink(
    _ node: AtomicStoreCacheNode,
    _ ordinal: Int,
    _ target: RelationshipTarget,
    _ id: ManagedObjectID
  ) throws(PersistenceError) {
    let name = node.entity.properties[ordinal].name
    guard id.entity.isKind(of: contents.model.entities[target.entityOrdinal]) else {
      return note(node, "\(name) leads to an object of \(id.entity.name), which is another entity.")
    }
    guard let other = try contents.node(id.reference, of: id.entity) else {
      return note(node, "\(name) leads to \(id.entity.name) \(id.reference), which is not there.")
    }
    if let inverse = target.inverseOrdinal, !other[inverse].objectIDs.contains(node.objectID) {
      note(node, "\(name) leads to \(id.entity.name) \(id.reference), whose inverse does not lead back.")
    }
  }

  private mutating func note(_ node: AtomicStoreCacheNode, _ message: String) {
    findings.append(Finding(objectID: node.objectID, message: message))
  }
}
