package import HeartwoodModel

/// Whether everything that a store keeps fits together: values, references, inverse relationships, and what must be unique.
package struct ContentsValidation {
  /// Something that is wrong with a record.
  package struct Finding: Sendable, Hashable, CustomStringConvertible {
    package let objectID: ManagedObjectID
    package let message: String

    package var description: String { "\(objectID.entity.name) \(objectID.reference): \(message)" }
  }

  /// The first findings, and how many there are.
  package struct Survey: Sendable {
    package fileprivate(set) var findings: [Finding] = []
    package fileprivate(set) var count = 0
  }

  private let contents: StoreContents
  private let limit: Int
  private let countsAll: Bool
  private var survey = Survey()

  /// Checks `contents` and gives up to `limit` findings, in the order of the records; what must be unique and is not
  /// comes last. O(values).
  package static func findings(in contents: StoreContents, limit: Int) throws(PersistenceError) -> [Finding] {
    var validation = ContentsValidation(contents, limit: limit, countsAll: false)
    try validation.run()
    return validation.survey.findings
  }

  /// Checks `contents` and gives up to `limit` findings, as ``findings(in:limit:)`` does, and the number of all. O(values).
  package static func survey(of contents: StoreContents, limit: Int) throws(PersistenceError) -> Survey {
    var validation = ContentsValidation(contents, limit: limit, countsAll: true)
    try validation.run()
    return validation.survey
  }

  private init(_ contents: StoreContents, limit: Int, countsAll: Bool) {
    self.contents = contents
    self.limit = limit
    self.countsAll = countsAll
  }

  private var hasEnough: Bool { !countsAll && survey.count >= limit }

  private mutating func run() throws(PersistenceError) {
    for entity in contents.entities {
      try contents.table(of: entity).checkReferences()
      for node in contents.nodes(of: entity) {
        if hasEnough { return }
        try check(node)
      }
    }
    let rest = countsAll ? .max : max(0, limit - survey.count)
    for conflict in contents.constraintConflicts(limit: rest) { note(conflict) }
  }

  private mutating func note(_ conflict: ConstraintConflict) {
    let (other, names) = (conflict.conflictingID, conflict.constraint.joined(separator: ", "))
    let message = "\(names) must be unique, and \(other.entity.name) \(other.reference) has the same."
    note(Finding(objectID: conflict.objectID, message: message))
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
    note(Finding(objectID: node.objectID, message: message))
  }

  private mutating func note(_ finding: Finding) {
    survey.count += 1
    if !countsAll || survey.findings.count < limit { survey.findings.append(finding) }
  }
}
