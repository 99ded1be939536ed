extension ModelValidator {
  /// A property that is being checked.
  private struct Subject {
    let entity: Int
    let index: Int
    var location: ModelFault.Location { .property(entity: entity, index: index) }
  }

  func checkProperties(of entity: Int, _ faults: inout [ModelFault]) {
    for (number, property) in index.definitions[entity].properties.enumerated() {
      let subject = Subject(entity: entity, index: number)
      checkName(property.name, of: subject, &faults)
      switch property {
      case .attribute(let attribute):
        checkType(of: attribute, at: subject.location, &faults)
        _ = checkFit(of: attribute.defaultValue, "default value", attribute.type, at: subject.location, &faults)
        checkRules(of: attribute, at: subject.location, &faults)
      case .relationship(let relationship):
        checkCounts(of: relationship, subject, &faults)
        checkDestination(of: relationship, subject, &faults)
      }
    }
  }

  /// Checks the type. An attribute without one keeps any value of the application in memory, as in Core Data.
  private func checkType(
    of attribute: AttributeDescription,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) {
    guard attribute.type == .undefined else { return }
    if !attribute.isTransient {
      let advice = "Give it a type, or make it transient."
      add("The attribute has no type, so that no store can keep its values. \(advice)", at: location, &faults)
    }
    if !attribute.defaultValue.isNull {
      let advice = "Give it a type, or remove the default value."
      add("The attribute has a default value and no type. \(advice)", at: location, &faults)
    }
  }

  private func checkName(_ name: String, of subject: Subject, _ faults: inout [ModelFault]) {
    if !ModelName.isAllowed(name) {
      add("The property's name is \(quoted(name)). \(ModelName.rule)", at: subject.location, &faults)
    }
    if index.index(ofOwnProperty: name, in: subject.entity) != subject.index {
      add("The entity has another property of the same name. Rename one of them.", at: subject.location, &faults)
      return
    }
    if let owner = index.ancestor(naming: name, of: subject.entity) {
      let owner = quoted(index.definitions[owner].name)
      let advice = "Rename one of them, or remove this one."
      add("The entity inherits a property of the same name from \(owner). \(advice)", at: subject.location, &faults)
    }
  }

  /// Checks whether an attribute of `type` can hold `value`. `name` says which value of the attribute it is.
  func checkFit(
    of value: PropertyValue,
    _ name: String,
    _ type: AttributeType,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) -> Bool {
    if value.fits(type) { return true }
    let outOfRange = if case .integer = value { type.integerRange != nil } else { false }
    let reason = outOfRange ? "is out of the range of" : "is \(value.kindDescription), which does not fit"
    let advice = "Give a value of the attribute's type, or none."
    add("The \(name) \(reason) the type \(type.rawValue). \(advice)", at: location, &faults)
    return false
  }

  private func checkCounts(
    of relationship: RelationshipDescription,
    _ subject: Subject,
    _ faults: inout [ModelFault]
  ) {
    let (least, most) = (relationship.minCount, relationship.maxCount)
    if least < 0 || most < 0 {
      let advice = "Give counts from 0 on; a greatest count of 0 means any number."
      add("The counts \(least) and \(most) are not both 0 or more. \(advice)", at: subject.location, &faults)
    } else if !relationship.isToMany && most != 1 {
      let advice = "Make it 1, or make the relationship to-many."
      add("A to-one relationship has a greatest count of \(most). \(advice)", at: subject.location, &faults)
    } else if relationship.isToMany && most == 1 {
      let advice = "Make the relationship to-one, or the count larger."
      add("A to-many relationship has a greatest count of 1. \(advice)", at: subject.location, &faults)
    } else if most != 0 && least > most {
      let advice = "Make the least count smaller, or the greatest one larger."
      add("The least count \(least) is above the greatest, \(most). \(advice)", at: subject.location, &faults)
    }
  }

  private func checkDestination(
    of relationship: RelationshipDescription,
    _ subject: Subject,
    _ faults: inout [ModelFault]
  ) {
    let name = relationship.destinationEntityName
    guard let destination = index.ordinal(ofEntity: name) else {
      let advice = "Add that entity to the model, or correct the name."
      add("The destination \(quoted(name)) does not exist. \(advice)", at: subject.location, &faults)
      return
    }
    guard let inverseName = relationship.inverseRelationshipName else { return }
    guard let place = index.place(ofProperty: inverseName, in: destination) else {
      let advice = "Add that relationship, correct the name, or leave the inverse out."
      let message = "The inverse \(quoted(inverseName)) does not exist in the destination \(quoted(name))."
      add("\(message) \(advice)", at: subject.location, &faults)
      return
    }
    checkInverse(index.property(at: place), of: relationship, subject, &faults)
  }

  private func checkInverse(
    _ property: PropertyDescription,
    of relationship: RelationshipDescription,
    _ subject: Subject,
    _ faults: inout [ModelFault]
  ) {
    guard let inverse = property.relationship else {
      let advice = "Name a relationship, or leave the inverse out."
      add("The inverse \(quoted(property.name)) is an attribute. \(advice)", at: subject.location, &faults)
      return
    }
    if relationship.hasOneSidedInverse {
      checkOneSidedness(of: relationship, subject, &faults)
      return
    }
    let isKnown = index.ordinal(ofEntity: inverse.destinationEntityName) != nil
    if isKnown, !index.leadsBack(inverse, to: subject.entity) {
      let destination = quoted(inverse.destinationEntityName)
      let advice = "It has to refer to this entity: correct its destination, or this inverse."
      add("The inverse \(quoted(inverse.name)) refers to \(destination). \(advice)", at: subject.location, &faults)
    }
    if inverse.inverseRelationshipName != relationship.name {
      let other = inverse.inverseRelationshipName.map(quoted) ?? "none"
      let advice = "Two relationships that are each other's inverse have to name each other: correct one of them."
      add("The inverse of \(quoted(inverse.name)) is \(other). \(advice)", at: subject.location, &faults)
    }
  }

  private func checkOneSidedness(
    of relationship: RelationshipDescription,
    _ subject: Subject,
    _ faults: inout [ModelFault]
  ) {
    guard !index.namesOneSidedInverse(relationship, of: subject.entity) else { return }
    let advice = "Remove the mark."
    add("The inverse is marked as one-sided, but refers back. \(advice)", at: subject.location, &faults)
  }
}

// MARK: Rules

extension ModelValidator {
  /// Checks whether the rules of an attribute fit its type, and whether a value can meet all of them.
  func checkRules(of attribute: AttributeDescription, at location: ModelFault.Location, _ faults: inout [ModelFault]) {
    guard !attribute.rules.isEmpty else { return }
    checkRange(of: attribute, at: location, &faults)
    checkLengths(of: attribute, at: location, &faults)
    checkPattern(of: attribute, at: location, &faults)
    checkPredicates(of: attribute, at: location, &faults)
  }

  private func checkPredicates(
    of attribute: AttributeDescription,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) {
    for condition in attribute.rules.predicates {
      do throws(FetchPredicateError) {
        _ = try ValueCondition(condition, type: attribute.type)
      } catch {
        let advice = "SELF stands for the value, and no other names are allowed."
        add("The predicate “\(condition.predicate)” cannot be used. \(error.message) \(advice)", at: location, &faults)
      }
    }
  }

  private func checkRange(
    of attribute: AttributeDescription,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) {
    let (least, greatest) = (attribute.rules.minValue, attribute.rules.maxValue)
    guard !(least.isNull && greatest.isNull) else { return }
    guard attribute.type.hasRange else {
      let advice = "Only numbers and dates can have them: remove them."
      add("The type \(attribute.type.rawValue) has no least or greatest value. \(advice)", at: location, &faults)
      return
    }
    let isLeastSound = checkBound(least, "least value", of: attribute, at: location, &faults)
    let isGreatestSound = checkBound(greatest, "greatest value", of: attribute, at: location, &faults)
    if isLeastSound, isGreatestSound, greatest.isLess(than: least) {
      add("The least value is above the greatest. Make one of them fit the other.", at: location, &faults)
    }
  }

  private func checkBound(
    _ bound: PropertyValue,
    _ name: String,
    of attribute: AttributeDescription,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) -> Bool {
    guard checkFit(of: bound, name, attribute.type, at: location, &faults) else { return false }
    guard bound.isNaN else { return true }
    add("The \(name) is not a number. Give one, or none.", at: location, &faults)
    return false
  }

  private func checkLengths(
    of attribute: AttributeDescription,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) {
    let (least, greatest) = (attribute.rules.minLength, attribute.rules.maxLength)
    guard least != nil || greatest != nil else { return }
    if attribute.type != .string {
      let advice = "Only strings can have them: remove them."
      add("The type \(attribute.type.rawValue) has no least or greatest length. \(advice)", at: location, &faults)
    } else if [least, greatest].contains(where: { ($0 ?? 0) < 0 }) {
      add("A least or greatest length is below 0. Give lengths from 0 on, or none.", at: location, &faults)
    } else if let least, let greatest, least > greatest {
      let advice = "Make the least length smaller, or the greatest one larger."
      add("The least length \(least) is above the greatest, \(greatest). \(advice)", at: location, &faults)
    }
  }

  private func checkPattern(
    of attribute: AttributeDescription,
    at location: ModelFault.Location,
    _ faults: inout [ModelFault]
  ) {
    guard let pattern = attribute.rules.pattern else { return }
    guard attribute.type == .string else {
      let advice = "Only strings can have one: remove it."
      add("The type \(attribute.type.rawValue) has no pattern. \(advice)", at: location, &faults)
      return
    }
    do {
      _ = try TextPattern(pattern)
    } catch {
      add("The pattern cannot be used. \(error.message) Correct it, or remove it.", at: location, &faults)
    }
  }
}

// MARK: OneSidedInverses

/// Relationships whose inverse has another inverse, which models made by other tools may have.
extension [EntityDefinition] {
  /// Marks every relationship whose inverse does not refer back to it.
  ///
  /// - Returns: The ordinal of the entity and the index among its own properties, for each marked relationship. O(n).
  package mutating func markOneSidedInverses() -> [(entity: Int, index: Int)] {
    let index = DefinitionIndex(self)
    var marked: [(entity: Int, index: Int)] = []
    for entity in indices {
      for (place, property) in self[entity].properties.enumerated() {
        guard case .relationship(var relationship) = property,
          index.namesOneSidedInverse(relationship, of: entity)
        else { continue }
        relationship.hasOneSidedInverse = true
        self[entity].properties[place] = .relationship(relationship)
        marked.append((entity, place))
      }
    }
    return marked
  }
}

// MARK: UnenforcedConstraints

/// Uniqueness constraints that no store can enforce, which models made by other tools may have.
extension [EntityDefinition] {
  /// Marks every entity with a uniqueness constraint that names a relationship or a transient attribute.
  ///
  /// - Returns: The ordinal of the entity and the index among its constraints, for each such constraint. O(n).
  package mutating func markUnenforcedConstraints() -> [(entity: Int, index: Int)] {
    let index = DefinitionIndex(self)
    var marked: [(entity: Int, index: Int)] = []
    for entity in indices {
      for (place, names) in self[entity].uniquenessConstraints.enumerated() {
        let properties = names.compactMap { index.place(ofProperty: $0, in: entity) }.map(index.property(at:))
        guard properties.contains(where: { $0.attribute?.isTransient ?? true }) else { continue }
        marked.append((entity, place))
      }
    }
    for place in marked { self[place.entity].hasUnenforcedConstraints = true }
    return marked
  }
}
