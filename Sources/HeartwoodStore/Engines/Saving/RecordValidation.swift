package import HeartwoodModel

/// Validates records against their entity's description.
///
/// The properties are checked first, each in turn, and then the rules of those attributes that have any.
package struct RecordValidation {
  private let objectID: ManagedObjectID
  private var faults: [ValidationFault] = []

  /// Returns the faults in the values of one record, which are indexed by property ordinal. O(values).
  package static func faults(in values: [PropertyValue], of objectID: ManagedObjectID) -> [ValidationFault] {
    var validation = RecordValidation(objectID: objectID)
    for (ordinal, value) in values.prefix(objectID.entity.traits.count).enumerated() {
      validation.check(value, ordinal)
    }
    for attribute in objectID.entity.ruledAttributes where attribute.ordinal < values.count {
      validation.check(values[attribute.ordinal], attribute)
    }
    return validation.faults
  }

  /// Returns the faults of one value of a record.
  package static func faults(
    in value: PropertyValue,
    at ordinal: Int,
    of objectID: ManagedObjectID
  ) -> [ValidationFault] {
    var validation = RecordValidation(objectID: objectID)
    validation.check(value, ordinal)
    for attribute in objectID.entity.ruledAttributes where attribute.ordinal == ordinal {
      validation.check(value, attribute)
    }
    return validation.faults
  }

  private init(objectID: ManagedObjectID) {
    self.objectID = objectID
  }

  private mutating func note(_ kind: ValidationFault.Kind, _ property: String, _ problem: String) {
    faults.append(ValidationFault(kind, objectID, property, problem))
  }
}

// MARK: Properties

extension RecordValidation {
  private mutating func check(_ value: PropertyValue, _ ordinal: Int) {
    // The traits contain this without a copy of the description, which only a fault needs.
    let trait = objectID.entity.traits[ordinal]
    if trait.isTransient { return }
    if !value.fits(trait) {
      noteUnfit(value, trait, ordinal)
    } else if value.isTooLong {
      let (count, most) = (value.byteCount, RowGroupBuilder.columnByteLimit)
      note(.tooLong, ordinal, "has \(count) bytes; a store keeps \(most) at most. Keep the value in a file of its own.")
    } else if trait.attributeType == nil {
      check(count(value), trait, ordinal)
    } else if !trait.isOptional, value.isNull {
      note(.missingValue, ordinal, "is required and has no value.")
    }
  }

  private mutating func noteUnfit(_ value: PropertyValue, _ trait: PropertyTrait, _ ordinal: Int) {
    let type = objectID.entity.properties[ordinal].typeDescription
    switch (value, trait.attributeType) {
    case (.integer(let number), let wanted?) where wanted.integerRange != nil:
      note(number < 0 ? .tooSmall : .tooGreat, ordinal, "is \(type), and the value is out of its range.")
    case (.string(let name), .binary), (.string(let name), .transformable):
      note(.rejected, ordinal, "is \(type), and the value, a \(name), cannot be converted to bytes.")
    default: note(.wrongType, ordinal, "is \(type), and the value is \(value.kindDescription).")
    }
  }

  private func count(_ value: PropertyValue) -> Int {
    switch value {
    case .toOne: 1
    case .toMany(let ids): ids.count
    default: 0
    }
  }

  private mutating func check(_ count: Int, _ trait: PropertyTrait, _ ordinal: Int) {
    let (least, most) = (trait.minCount, trait.maxCount)
    if count == 0 {
      if !trait.mayBeEmpty { note(.missingValue, ordinal, "is required and refers to no object.") }
    } else if count < least {
      note(.tooFew, ordinal, "refers to \(count) objects; at least \(least) are required.")
    } else if trait.isToMany, most > 0, count > most {
      note(.tooMany, ordinal, "refers to \(count) objects; at most \(most) are allowed.")
    }
  }

  private mutating func note(_ kind: ValidationFault.Kind, _ ordinal: Int, _ problem: String) {
    note(kind, objectID.entity.properties[ordinal].name, problem)
  }
}

// MARK: Rules

extension RecordValidation {
  /// Checks a value against the rules of its attribute. They do not apply to null or a value of another type.
  private mutating func check(_ value: PropertyValue, _ attribute: RuledAttribute) {
    checkConditions(value, attribute)
    if case .string(let text) = value {
      check(text, attribute)
    } else if value.fits(attribute.type), attribute.type.hasRange, !value.isNull {
      checkRange(of: value, attribute)
    }
  }

  private mutating func checkConditions(_ value: PropertyValue, _ attribute: RuledAttribute) {
    if attribute.conditions.isEmpty || value.isNull || !value.fits(attribute.type) { return }
    for condition in attribute.conditions where !condition.holds(for: value) {
      note(.predicateNotMet, attribute.name, condition.warning)
    }
  }

  private mutating func checkRange(of value: PropertyValue, _ attribute: RuledAttribute) {
    let (least, greatest) = (attribute.rules.minValue, attribute.rules.maxValue)
    let isDate = attribute.type == .date
    if !least.isNull, value.isLess(than: least) || value.isNaN {
      let bound = isDate ? "is before the earliest date" : "is below the least value, \(text(least, attribute))"
      note(isDate ? .tooEarly : .tooSmall, attribute.name, bound + ".")
    } else if !greatest.isNull, greatest.isLess(than: value) || value.isNaN {
      let bound = isDate ? "is after the latest date" : "is above the greatest value, \(text(greatest, attribute))"
      note(isDate ? .tooLate : .tooGreat, attribute.name, bound + ".")
    }
  }

  private func text(_ bound: PropertyValue, _ attribute: RuledAttribute) -> String {
    bound.text(of: attribute.type) ?? bound.kindDescription
  }

  private mutating func check(_ text: String, _ attribute: RuledAttribute) {
    let (least, greatest) = (attribute.rules.minLength, attribute.rules.maxLength)
    if least != nil || greatest != nil {
      let length = text.utf16.count
      if let least, length < least {
        note(.tooShort, attribute.name, "has \(length) characters; at least \(least) are required.")
      }
      if let greatest, length > greatest {
        note(.tooLong, attribute.name, "has \(length) characters; at most \(greatest) are allowed.")
      }
    }
    if let pattern = attribute.pattern, !pattern.matches(text) {
      note(.patternMismatch, attribute.name, "does not match its pattern.")
    }
  }
}

// MARK: ContentsValidation

/// Checks that the contents of a store are consistent: values, references, inverse relationships, and uniqueness.
package struct ContentsValidation {
  /// A fault of a record.
  package struct Finding: Sendable, Hashable, CustomStringConvertible {
    package let objectID: ManagedObjectID
    package let message: String

    package var description: String { "\(objectID.entity.name) \(objectID.reference): \(message)" }
  }

  /// The first findings, and the number of all.
  package struct Survey: Sendable {
    package fileprivate(set) var findings: [Finding] = []
    package fileprivate(set) var count = 0
  }

  private let contents: StoreContents
  private let limit: Int
  private let countsAll: Bool
  private var survey = Survey()

  /// Checks `contents` and returns up to `limit` findings, in the order of the records; violations of uniqueness come
  /// last. O(values).
  package static func findings(in contents: StoreContents, limit: Int) throws(PersistenceError) -> [Finding] {
    var validation = ContentsValidation(contents, limit: limit, countsAll: false)
    try validation.run()
    return validation.survey.findings
  }

  /// Checks `contents` and returns up to `limit` findings, as ``findings(in:limit:)`` does, and the number of all.
  /// O(values).
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
      if Set(ids).count < ids.count { note(node, "\(node.entity.properties[ordinal].name) refers to an object twice.") }
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
      return note(node, "\(name) refers to an object of \(id.entity.name), which is another entity.")
    }
    guard let other = try contents.node(id.reference, of: id.entity) else {
      return note(node, "\(name) refers to \(id.entity.name) \(id.reference), which does not exist.")
    }
    if let inverse = target.inverseOrdinal, !other[inverse].objectIDs.contains(node.objectID) {
      note(node, "\(name) refers to \(id.entity.name) \(id.reference), whose inverse does not refer back.")
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
