import HeartwoodModel

extension CompiledModelWriter {
  mutating func write(
    _ property: PropertyDescription,
    _ ordinal: Int,
    of entity: EntityDescription
  ) throws(ArchiveGap) {
    let number = number(ofProperty: ordinal, ofEntity: entity.ordinal)
    var members = common(property.name, of: entity, property.renamingIdentifier)
    addTraits(
      isOptional: property.isOptional,
      isReadOnly: property.attribute?.derivationExpression != nil,
      isTransient: property.isTransient,
      to: &members
    )
    addNotes(property.versionHashModifier, property.userInfo, to: &members)
    switch property {
    case .attribute(let attribute):
      try add(attribute, to: &members)
      archive.set(number, attribute.derivationExpression == nil ? .attribute : .derivedAttribute, flagged(members))
    case .relationship(let relationship):
      add(relationship, to: &members)
      archive.set(number, .relationship, flagged(members))
    }
  }

  mutating func fetchedProperty(
    _ property: FetchedPropertyDescription,
    of entity: EntityDescription
  ) throws(ArchiveGap) -> ArchiveValue {
    var members = common(property.name, of: entity, property.renamingIdentifier)
    addTraits(isOptional: property.isOptional, isReadOnly: true, isTransient: true, to: &members)
    addNotes(property.versionHashModifier, property.userInfo, to: &members)
    members["NSFetchRequest"] = try fetchRequest(property.fetchRequest)
    members["_NSFetchRequestEntityName"] = archive.text(property.fetchRequest.entityName)
    return archive.object(.fetchedProperty, flagged(members))
  }

  // MARK: What all properties have

  private mutating func common(
    _ name: String,
    of entity: EntityDescription,
    _ renamingIdentifier: String?
  ) -> [String: ArchiveValue] {
    [
      "NSPropertyName": archive.text(name), "NSEntity": reference(to: entity),
      "NSRenamingIdentifier": archive.text(renamingIdentifier ?? name),
    ]
  }

  private func addTraits(
    isOptional: Bool,
    isReadOnly: Bool,
    isTransient: Bool,
    to members: inout [String: ArchiveValue]
  ) {
    if isOptional { members["NSIsOptional"] = .boolean(true) }
    if isReadOnly { members["NSIsReadOnly"] = .boolean(true) }
    if isTransient { members["NSIsTransient"] = .boolean(true) }
  }

  private mutating func addNotes(
    _ versionHashModifier: String?,
    _ notes: [String: String],
    to members: inout [String: ArchiveValue]
  ) {
    if let versionHashModifier { members["NSVersionHashModifier"] = archive.text(versionHashModifier) }
    if !notes.isEmpty { members["NSUserInfo"] = userInfo(notes) }
  }

  /// With the bits that tell what the property has, and what it does not have.
  private func flagged(_ members: [String: ArchiveValue]) -> [String: ArchiveValue] {
    let present: [(key: String, bit: Int64)] = [
      ("NSIsOptional", 1 << 1), ("NSIsReadOnly", 1 << 2), ("NSIsTransient", 1 << 3), ("NSIsOrdered", 1 << 10),
    ]
    let absent: [(key: String, bit: Int64)] = [
      ("NSValidationPredicates", 1 << 4), ("NSValidationWarnings", 1 << 5), ("NSUserInfo", 1 << 6),
      ("NSVersionHashModifier", 1 << 7),
    ]
    var bits: Int64 = 1
    for (key, bit) in present where members[key] != nil { bits |= bit }
    for (key, bit) in absent where members[key] == nil { bits |= bit }
    return members.merging(["_P": .integer(bits)]) { own, _ in own }
  }
}

// MARK: Attributes

extension CompiledModelWriter {
  private mutating func add(
    _ attribute: AttributeDescription,
    to members: inout [String: ArchiveValue]
  ) throws(ArchiveGap) {
    let flags =
      (attribute.allowsExternalBinaryDataStorage ? CompiledModelFlag.externalStorage : 0)
      | (attribute.preservesValueInHistoryOnDeletion ? CompiledModelFlag.preservedOnDeletion : 0)
    members["NSAttributeType"] = .integer(Int64(attribute.type.coreDataCode))
    members["NSFlagsKey"] = .integer(Int64(flags))
    members["NSAttributeValueClassName"] = archive.text(
      attribute.attributeValueClassName ?? attribute.type.valueClassName
    )
    members["NSValueTransformerName"] = archive.text(attribute.valueTransformerName)
    members["NSDefaultValue"] = try defaultValue(of: attribute)
    if let expression = attribute.derivationExpression {
      members["NSDerivationExpression"] = try ArchivedPredicate.archive(expression, in: &archive)
      members["NSFilteringPredicate"] = .nothing
    }
    let rules = ArchivedRules.predicates(of: attribute)
    guard !rules.isEmpty else { return }
    let predicates = try rules.map { rule throws(ArchiveGap) in
      try ArchivedPredicate.archive(rule.predicate, in: &archive)
    }
    members["NSValidationPredicates"] = archive.list(.array, predicates)
    members["NSValidationWarnings"] = archive.list(.array, rules.map { archive.text($0.warning) })
  }

  private mutating func defaultValue(of attribute: AttributeDescription) throws(ArchiveGap) -> ArchiveValue {
    guard attribute.defaultValue.isNull || (attribute.type != .binary && attribute.type != .transformable) else {
      throw ArchiveGap("the default value of \(attribute.name)")
    }
    return try ArchivedValue.archive(attribute.defaultValue, in: &archive)
  }
}

extension AttributeType {
  /// The class of the values; nil where the attribute says it.
  fileprivate var valueClassName: String? {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binary: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .transformable, .undefined: nil
    }
  }
}

// MARK: Relationships

extension CompiledModelWriter {
  private mutating func add(
    _ relationship: RelationshipDescription,
    to members: inout [String: ArchiveValue]
  ) {
    // Any number, which the version hash tells from 0, is written as the greatest.
    let isBounded = relationship.maxCount != Int.max
    members["NSMinCount"] = .integer(Int64(relationship.minCount))
    members["NSMaxCount"] = .integer(relationship.isToMany ? (isBounded ? Int64(relationship.maxCount) : -1) : 1)
    members["NSDeleteRule"] = .integer(
      Int64(CompiledModelFlag.deleteRules.firstIndex(of: relationship.deleteRule) ?? 1)
    )
    members["_NSDestinationEntityName"] = archive.text(relationship.destinationEntityName)
    if relationship.isOrdered { members["NSIsOrdered"] = .boolean(true) }
    let destination = model.entity(named: relationship.destinationEntityName)
    if let destination { members["NSDestinationEntity"] = reference(to: destination) }
    guard let name = relationship.inverseRelationshipName else { return }
    members["_NSInverseRelationshipName"] = archive.text(name)
    if let destination, let inverse = destination.ordinal(ofProperty: name) {
      members["NSInverseRelationship"] = .reference(number(ofProperty: inverse, ofEntity: destination.ordinal))
    }
  }
}
