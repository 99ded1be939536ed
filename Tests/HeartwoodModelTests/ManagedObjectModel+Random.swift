import HeartwoodModel
import HeartwoodTesting

extension ManagedObjectModel {
  /// A random model without faults.
  static func random(_ generator: inout SeededGenerator) throws -> ManagedObjectModel {
    let count = Int.random(in: 0...6, using: &generator)
    var entities = (0..<count).map { EntityDefinition.random($0, &generator) }
    for number in entities.indices where generator.chance(oneIn: 2) { entities.relate(number, &generator) }
    let names = entities.map(\.name)
    return try ManagedObjectModel(
      entities: entities.shuffled(using: &generator),
      configurations: generator.chance(oneIn: 2) ? [:] : ["Default/\(generator.nextString())": names],
      versionIdentifiers: generator.chance(oneIn: 2) ? [] : [generator.nextString()]
    )
  }
}

extension EntityDefinition {
  fileprivate static func random(_ number: Int, _ generator: inout SeededGenerator) -> EntityDefinition {
    let properties = AttributeType.allCases.filter { _ in generator.chance(oneIn: 2) }.map { type in
      PropertyDescription.attribute(.random("e\(number)_\(type.rawValue)", type, &generator))
    }
    let stored = properties.filter { !$0.isTransient }.map(\.name)
    return EntityDefinition(
      name: "E\(number)é",
      managedObjectClassName: generator.text(),
      isAbstract: generator.chance(oneIn: 3),
      superentityName: number > 0 && generator.chance(oneIn: 2)
        ? "E\(Int.random(in: 0..<number, using: &generator))é" : nil,
      properties: properties,
      uniquenessConstraints: stored.isEmpty || generator.chance(oneIn: 2) ? [] : [stored],
      renamingIdentifier: generator.text(),
      versionHashModifier: generator.text(),
      userInfo: generator.userInfo()
    )
  }
}

extension AttributeDescription {
  fileprivate static func random(
    _ name: String,
    _ type: AttributeType,
    _ generator: inout SeededGenerator
  ) -> AttributeDescription {
    AttributeDescription(
      name: name,
      type: type,
      isOptional: generator.chance(oneIn: 2),
      isTransient: generator.chance(oneIn: 4),
      defaultValue: generator.chance(oneIn: 3) ? .null : .random(of: type, using: &generator),
      rules: generator.chance(oneIn: 2) ? AttributeRules() : .random(of: type, &generator),
      allowsExternalBinaryDataStorage: generator.chance(oneIn: 4),
      preservesValueInHistoryOnDeletion: generator.chance(oneIn: 4),
      valueTransformerName: generator.text(),
      attributeValueClassName: generator.text(),
      renamingIdentifier: generator.text(),
      versionHashModifier: generator.text(),
      userInfo: generator.userInfo()
    )
  }
}

extension AttributeRules {
  fileprivate static func random(of type: AttributeType, _ generator: inout SeededGenerator) -> AttributeRules {
    if type == .string {
      let (least, more) = (Int.random(in: 0...9, using: &generator), Int.random(in: 0...9, using: &generator))
      return AttributeRules(
        minLength: generator.chance(oneIn: 2) ? nil : least,
        maxLength: generator.chance(oneIn: 2) ? nil : least + more,
        pattern: ["", "a|b", #"\S+ \d{2,3}"#, "[é-ü]*ß", nil].randomElement(using: &generator) ?? nil
      )
    }
    guard type.hasRange else { return AttributeRules() }
    let bounds = (0..<2).map { _ in PropertyValue.random(of: type, using: &generator) }.map { $0.isNaN ? .null : $0 }
    let isTurned = bounds[1].isLess(than: bounds[0])
    return AttributeRules(minValue: bounds[isTurned ? 1 : 0], maxValue: bounds[isTurned ? 0 : 1])
  }
}

extension [EntityDefinition] {
  /// Adds a relationship from the entity at `number` to a random one, and its inverse.
  fileprivate mutating func relate(_ number: Int, _ generator: inout SeededGenerator) {
    let other = Int.random(in: indices, using: &generator)
    let (there, back) = ("there\(number)", "back\(number)")
    let toMany = generator.chance(oneIn: 2)
    self[number].properties.append(
      .relationship(
        RelationshipDescription(
          name: there,
          destinationEntityName: self[other].name,
          inverseRelationshipName: back,
          isToMany: toMany,
          isOrdered: toMany && generator.chance(oneIn: 2),
          isOptional: generator.chance(oneIn: 2),
          isTransient: generator.chance(oneIn: 8),
          deleteRule: DeleteRule.allCases.randomElement(using: &generator) ?? .nullify,
          minCount: generator.chance(oneIn: 2) ? 0 : 1,
          maxCount: toMany ? [0, 2, 20, Int.max].randomElement(using: &generator) : 1,
          renamingIdentifier: generator.text(),
          versionHashModifier: generator.text(),
          userInfo: generator.userInfo()
        )
      )
    )
    self[other].properties.append(.toOne(back, self[number].name, inverse: there))
  }
}

extension SeededGenerator {
  fileprivate mutating func text() -> String? {
    chance(oneIn: 2) ? nil : nextString()
  }

  fileprivate mutating func userInfo() -> [String: String] {
    chance(oneIn: 2) ? [:] : [nextString(): nextString(), "key": ""]
  }
}
