package import HeartwoodModel

/// Whether records are as their entity's description asks.
///
/// The properties are checked first, each in turn, and then the rules of those attributes that have any.
package struct RecordValidation {
  private let objectID: ManagedObjectID
  private var faults: [ValidationFault] = []

  /// What is wrong with the values of one record. They are indexed by property ordinal. O(values).
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

  /// What is wrong with one value of a record.
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
    // The traits tell without a copy of the description, which only a fault needs.
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
      note(.rejected, ordinal, "is \(type), and the value, a \(name), cannot be turned into bytes.")
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
      if !trait.mayBeEmpty { note(.missingValue, ordinal, "is required and leads nowhere.") }
    } else if count < least {
      note(.tooFew, ordinal, "leads to \(count) objects; \(least) are the least.")
    } else if trait.isToMany, most > 0, count > most {
      note(.tooMany, ordinal, "leads to \(count) objects; \(most) are the most.")
    }
  }

  private mutating func note(_ kind: ValidationFault.Kind, _ ordinal: Int, _ problem: String) {
    note(kind, objectID.entity.properties[ordinal].name, problem)
  }
}

// MARK: Rules

extension RecordValidation {
  /// Checks a value that may be null or of another type: then the rules say nothing of it.
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
        note(.tooShort, attribute.name, "has \(length) characters; \(least) are the least.")
      }
      if let greatest, length > greatest {
        note(.tooLong, attribute.name, "has \(length) characters; \(greatest) are the most.")
      }
    }
    if let pattern = attribute.pattern, !pattern.matches(text) {
      note(.patternMismatch, attribute.name, "does not match its pattern.")
    }
  }
}
