import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodTesting

/// Two versions of a model, at random, and records of the first. The changes are those that people make.
struct RandomVersions {
  var generator: SeededGenerator
  private(set) var old: [EntityDefinition] = []
  private(set) var new: [EntityDefinition] = []

  private static let entityNames = ["Node", "Leaf", "Other", "Third"]

  init(seed: UInt64) {
    print("seed \(seed)")
    generator = SeededGenerator(seed: seed)
    for name in Self.entityNames {
      let attributes = (0..<Int.random(in: 1...4, using: &generator)).map { attribute("\(name.lowercased())\($0)") }
      let parent = name == "Leaf" ? "Node" : nil
      old.append(EntityDefinition(name: name, superentityName: parent, properties: attributes.map(Property.attribute)))
    }
    new = old
    for place in new.indices {
      new[place].properties = old[place].properties.compactMap { $0.attribute }.compactMap { changed($0) }
        .map(Property.attribute)
      if generator.chance(oneIn: 3) { new[place].properties.append(.attribute(added("added\(place)"))) }
    }
    for number in 0..<Int.random(in: 1...3, using: &generator) { addLink(number) }
    changeEntities()
  }

  private typealias Property = PropertyDescription
}

// MARK: Attributes

extension RandomVersions {
  private mutating func attribute(_ name: String) -> AttributeDescription {
    let type = AttributeType.allCases.randomElement(using: &generator) ?? .string
    let isExternal = type == .binary && generator.chance(oneIn: 3)
    return AttributeDescription(name: name, type: type, allowsExternalBinaryDataStorage: isExternal)
  }

  private mutating func added(_ name: String) -> AttributeDescription {
    let type = AttributeType.allCases.randomElement(using: &generator) ?? .string
    return required(AttributeDescription(name: name, type: type))
  }

  private mutating func required(_ attribute: AttributeDescription) -> AttributeDescription {
    var attribute = attribute
    attribute.defaultValue = value(of: attribute.type)
    attribute.isOptional = generator.chance(oneIn: 2) || attribute.defaultValue.isNull
    return attribute
  }

  /// The attribute of the next version; nil where it goes.
  private mutating func changed(_ attribute: AttributeDescription) -> AttributeDescription? {
    var next = attribute
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: return nil
    case 1:
      next.name += "Renamed"
      next.renamingIdentifier = attribute.name
    case 2:
      next.type =
        AttributeType.allCases.filter { attribute.type.converts(to: $0) }.randomElement(using: &generator) ?? .string
      if next.type != .binary { next.allowsExternalBinaryDataStorage = false }
    case 3: next = required(attribute)
    case 4 where attribute.type == .binary: next.allowsExternalBinaryDataStorage.toggle()
    default: break
    }
    return next
  }

  /// A value of few; now and then one that is too large for other types.
  mutating func value(of type: AttributeType) -> PropertyValue {
    let number = Int64.random(in: 0...3, using: &generator)
    switch type {
    case .integer16: return .integer(number)
    case .integer32: return .integer(generator.chance(oneIn: 9) ? 70_000 : number)
    case .integer64: return .integer(generator.chance(oneIn: 9) ? 1 << 40 : number)
    case .decimal: return .decimal(Decimal(number) / 8)
    case .double: return .double(Double(number) / 8)
    case .float: return .float(Float(number) / 8)
    case .string: return .string(["", "a", "1", "12"][Int(number)])
    case .boolean: return .boolean(number > 1)
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    case .binary: return .binary(Data(repeating: 1, count: generator.chance(oneIn: 5) ? 110_000 : Int(number)))
    case .transformable, .undefined: return .binary(Data([UInt8(number)]))
    case .uuid: return .uuid(UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    case .uri: return URL(string: "https://example.org/\(number)").map(PropertyValue.uri) ?? .null
    }
  }
}

// MARK: Relationships

extension RandomVersions {
  /// One end of a relationship in one version.
  private struct End {
    var isToMany: Bool
    var isOrdered: Bool
  }

  private mutating func end() -> End {
    End(isToMany: generator.chance(oneIn: 2), isOrdered: generator.chance(oneIn: 2))
  }

  private mutating func addLink(_ number: Int) {
    let names = Self.entityNames
    let (from, to) = (names.randomElement(using: &generator) ?? "", names.randomElement(using: &generator) ?? "")
    var (there, back) = (end(), generator.chance(oneIn: 4) ? nil : end())
    let isInOld = !generator.chance(oneIn: 6)
    if isInOld { add(number, from, to, there, back, isNew: false) }
    if generator.chance(oneIn: 8) { return }
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: there.isToMany.toggle()
    case 1: back?.isToMany.toggle()
    case 2: there.isOrdered.toggle()
    case 3: back = back == nil ? end() : nil
    default: break
    }
    add(number, from, to, there, back, isNew: true, isRenamed: isInOld && generator.chance(oneIn: 4))
  }

  private mutating func add(
    _ number: Int,
    _ from: String,
    _ to: String,
    _ there: End,
    _ back: End?,
    isNew: Bool,
    isRenamed: Bool = false
  ) {
    let (thereName, backName) = ("there\(number)\(isRenamed ? "Renamed" : "")", "back\(number)")
    append(
      RelationshipDescription(
        name: thereName,
        destinationEntityName: to,
        inverseRelationshipName: back == nil ? nil : backName,
        isToMany: there.isToMany,
        isOrdered: there.isToMany && there.isOrdered,
        renamingIdentifier: isRenamed ? "there\(number)" : nil
      ),
      to: from,
      isNew
    )
    guard let back else { return }
    append(
      RelationshipDescription(
        name: backName,
        destinationEntityName: from,
        inverseRelationshipName: thereName,
        isToMany: back.isToMany,
        isOrdered: back.isToMany && back.isOrdered
      ),
      to: to,
      isNew
    )
  }

  private mutating func append(_ relationship: RelationshipDescription, to entity: String, _ isNew: Bool) {
    guard let place = Self.entityNames.firstIndex(of: entity) else { return }
    if isNew {
      new[place].properties.append(.relationship(relationship))
    } else {
      old[place].properties.append(.relationship(relationship))
    }
  }
}

// MARK: Entities

extension RandomVersions {
  private mutating func changeEntities() {
    if generator.chance(oneIn: 4) {
      new.append(EntityDefinition(name: "Twig", superentityName: "Node", properties: [.attribute(added("twig"))]))
    }
    if generator.chance(oneIn: 4) { rename("Third", to: "Fourth") }
    if generator.chance(oneIn: 8) { remove("Leaf") }
    if generator.chance(oneIn: 4), let name = new[2].properties.compactMap(\.attribute).first?.name {
      new[2].uniquenessConstraints = [[name]]
    }
    if generator.chance(oneIn: 4) { new.sort { $0.name > $1.name } }
  }

  private mutating func rename(_ name: String, to other: String) {
    for place in new.indices {
      if new[place].name == name {
        new[place].name = other
        new[place].renamingIdentifier = name
      }
      new[place].properties = new[place].properties.map { property in
        guard case .relationship(var relationship) = property, relationship.destinationEntityName == name else {
          return property
        }
        relationship.destinationEntityName = other
        return .relationship(relationship)
      }
    }
  }

  private mutating func remove(_ name: String) {
    new.removeAll { $0.name == name }
    for place in new.indices {
      new[place].properties.removeAll { $0.relationship?.destinationEntityName == name }
    }
  }
}

// MARK: Records

extension RandomVersions {
  /// Makes records of the old version, with values and links.
  mutating func fill(_ context: ManagedObjectContext) throws {
    var objects: [String: [ManagedObject]] = [:]
    for name in Self.entityNames {
      for _ in 0..<Int.random(in: 0...6, using: &generator) {
        let object = try context.insert(entityName: name)
        objects[name, default: []].append(object)
        if name == "Leaf" { objects["Node", default: []].append(object) }
        for attribute in object.entity.attributes where !generator.chance(oneIn: 4) {
          try object.setPropertyValue(value(of: attribute.type), forKey: attribute.name)
        }
      }
    }
    var owned: [String: Set<ManagedObjectID>] = [:]
    for object in objects.keys.sorted().flatMap({ objects[$0] ?? [] }) {
      for relationship in object.entity.relationships where generator.chance(oneIn: 2) {
        let others = (objects[relationship.destinationEntityName] ?? []).shuffled(using: &generator)
        let count = Int.random(in: 0...(relationship.isToMany ? 3 : 1), using: &generator)
        var ids = others.prefix(count).map(\.objectID)
        // Without an inverse a record belongs to one owner only.
        if relationship.isToMany, relationship.inverseRelationshipName == nil {
          ids.removeAll { !owned[relationship.name, default: []].insert($0).inserted }
        }
        if relationship.isToMany {
          try object.setPropertyValue(.toMany(ids), forKey: relationship.name)
        } else if let id = ids.first {
          try object.setPropertyValue(.toOne(id), forKey: relationship.name)
        }
      }
    }
  }
}
