extension ModelValidator {
  /// Checks whether the rules of an attribute suit its type and can be kept to at once.
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
        let advice = "SELF stands for the value, and there is nothing else to name."
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
      let advice = "Only numbers and dates can have them: take them away."
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
      let advice = "Only strings can have them: take them away."
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
      let advice = "Only strings can have one: take it away."
      add("The type \(attribute.type.rawValue) has no pattern. \(advice)", at: location, &faults)
      return
    }
    do {
      _ = try TextPattern(pattern)
    } catch {
      add("The pattern cannot be used. \(error.message) Correct it, or take it away.", at: location, &faults)
    }
  }
}
