extension ModelValidator {
  /// One property that is being checked.
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

  /// An attribute without a type is for what the application keeps in memory, as in Core Data.
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
      let advice = "Give it a type, or take the default value away."
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
      let advice = "Rename one of them, or take this one away."
      add("The entity inherits a property of the same name from \(owner). \(advice)", at: subject.location, &faults)
    }
  }

  /// Whether an attribute of `type` can hold `value`, which is its `name`.
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
      let advice = "It has to lead to this entity: correct its destination, or this inverse."
      add("The inverse \(quoted(inverse.name)) leads to \(destination). \(advice)", at: subject.location, &faults)
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
    let advice = "Take the mark away."
    add("The inverse is marked as one-sided, but leads back. \(advice)", at: subject.location, &faults)
  }
}
