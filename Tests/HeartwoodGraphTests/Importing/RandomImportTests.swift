import Foundation
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Random objects, written as records and imported again, are the same.
@Suite struct RandomImportTests {
  private static func model() throws -> ManagedObjectModel {
    var node = EntityDefinition.entity(
      "Node",
      .attribute("number", .integer64),
      .toOne("next", "Node", inverse: "previous"),
      .toOne("previous", "Node", inverse: "next"),
      .toOne("parent", "Node", inverse: "children"),
      .toMany("children", "Node", inverse: "parent", ordered: true),
      .toMany("peers", "Node", inverse: "peers")
    )
    node.properties += AttributeType.allCases.map { .attribute("\($0)", $0, optional: true) }
    node.userInfo = ["relatedByAttribute": "number"]
    return try ManagedObjectModel(entities: [node])
  }

  /// Relationships that are written; their inverses follow.
  private static let written = ["next", "children", "peers"]

  private func nodes(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Node", sortedBy: [FetchSortDescriptor("number")]))
  }

  private func makeNodes(
    _ context: ManagedObjectContext,
    _ generator: inout SeededGenerator,
    _ kind: TestStoreKind
  ) throws {
    for number in 0..<40 {
      let node = try context.insert(entityName: "Node")
      try node.setValue(number, forKey: "number")
      for type in AttributeType.allCases where !generator.chance(oneIn: 5) {
        try node.setPropertyValue(Self.value(of: type, &generator, kind), forKey: "\(type)")
      }
    }
    let nodes = try nodes(context)
    for node in nodes {
      try node.setValue(nodes.randomElement(using: &generator), forKey: "next")
      try node.setValue(nodes.randomElement(using: &generator), forKey: "parent")
      let peers = (0..<3).compactMap { _ in nodes.randomElement(using: &generator) }
      try node.setValue(peers, forKey: "peers")
    }
    try context.save()
  }

  /// A value that JSON has a text for, and the store room.
  private static func value(
    of type: AttributeType,
    _ generator: inout SeededGenerator,
    _ kind: TestStoreKind
  ) -> PropertyValue {
    switch type {
    case .date:
      let seconds = Double.random(in: DateText.representable, using: &generator)
      return .date(Date(timeIntervalSinceReferenceDate: generator.chance(oneIn: 2) ? seconds.rounded() : seconds))
    case .decimal where kind == .sqlite:
      return .decimal(Decimal(Int.random(in: -1_000_000_000...1_000_000_000, using: &generator)) / 1000)
    case .double where kind == .sqlite: return .double(.random(in: -1e9...1e9, using: &generator))
    case .float where kind == .sqlite: return .float(.random(in: -1e9...1e9, using: &generator))
    default: return .random(of: type, using: &generator)
    }
  }

  // MARK: Records

  /// - Parameter depth: how deep other nodes are written out; those beyond stand as their numbers.
  private func record(_ node: ManagedObject, depth: Int) throws -> ImportValue {
    var members: [String: ImportValue] = [:]
    for property in node.entity.properties {
      if property.attribute != nil {
        members[property.name] = .scalar(try node.propertyValue(forKey: property.name))
      } else if Self.written.contains(property.name) {
        let value = try node.value(forKey: property.name)
        let others = (value as? [ManagedObject]) ?? (value as? ManagedObject).map { [$0] } ?? []
        let records = try others.map { other in
          depth > 0 ? try record(other, depth: depth - 1) : .scalar(try other.propertyValue(forKey: "number"))
        }
        members[property.name] = property.relationship?.isToMany == true ? .array(records) : records.first ?? .null
      }
    }
    return .object(members)
  }

  private func json(_ value: ImportValue) throws -> String {
    switch value {
    case .null, .scalar(.null): return "null"
    case .number(let text): return text
    case .scalar(let scalar): return try json(scalar)
    case .array(let elements): return "[" + (try elements.map(json)).joined(separator: ",") + "]"
    case .object(let members):
      return "{" + (try members.map { "\(try quoted($0.key)):\(try json($0.value))" }).joined(separator: ",") + "}"
    }
  }

  private func json(_ scalar: PropertyValue) throws -> String {
    switch scalar {
    case .integer(let number): "\(number)"
    case .double(let number): number.isFinite ? "\(number)" : try quoted(number.isNaN ? "nan" : "\(number)")
    case .float(let number): number.isFinite ? "\(number)" : try quoted(number.isNaN ? "nan" : "\(number)")
    case .decimal(let number): number.isNaN ? try quoted("nan") : "\(number)"
    case .boolean(let flag): "\(flag)"
    case .string(let text): try quoted(text)
    case .date(let date): try quoted(try #require(DateText.iso8601(date.timeIntervalSinceReferenceDate)))
    case .binary(let data): try quoted(data.base64EncodedString())
    case .uuid(let uuid): try quoted(uuid.uuidString.lowercased())
    case .uri(let url): try quoted(url.absoluteString)
    case .null, .toOne, .toMany: "null"
    }
  }

  private func quoted(_ text: String) throws -> String {
    String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
  }

  // MARK: Tests

  @Test(arguments: TestStoreKind.allCases, [UInt64(11), 12])
  func recordsComeBack(_ kind: TestStoreKind, _ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let source = try ImportStack(.inMemory, try Self.model()).context
    try makeNodes(source, &generator, kind)
    let originals = try nodes(source)
    let records = try originals.shuffled(using: &generator).map { try record($0, depth: Int(generator.next() % 3)) }
    let isJSON = generator.chance(oneIn: 2)
    let data = Data(try json(.array(records)).utf8)
    var options = ImportOptions()
    options.replacesToManyRelationships = true
    let stack = try ImportStack(kind, try Self.model())
    for isSecond in [false, true] {
      if isJSON != isSecond {
        try stack.context.importObjects(entityName: "Node", fromJSON: data, options: options)
      } else {
        try stack.context.importObjects(entityName: "Node", from: records, options: options)
      }
      let copies = try nodes(stack.context)
      #expect(copies.count == originals.count, "seed \(seed)")
      for (copy, original) in zip(copies, originals) { try expectSame(copy, original, seed, kind) }
      try expectBothEndsAgree(stack.context)
      // The second time there is nothing to change.
      if isSecond { #expect(!stack.context.hasChanges, "seed \(seed)") }
      if !isSecond { try stack.context.save() }
    }
  }

  private func expectSame(
    _ copy: ManagedObject,
    _ original: ManagedObject,
    _ seed: UInt64,
    _ kind: TestStoreKind
  ) throws {
    for property in original.entity.properties {
      let place: Comment = "seed \(seed), \(kind), \(property.name)"
      if property.attribute != nil {
        let value = try copy.propertyValue(forKey: property.name)
        #expect(value == (try original.propertyValue(forKey: property.name)), place)
        continue
      }
      let (one, other) = (try numbers(copy, property), try numbers(original, property))
      #expect(property.relationship?.isOrdered == true ? one == other : Set(one) == Set(other), place)
    }
  }

  private func numbers(_ node: ManagedObject, _ property: PropertyDescription) throws -> [PropertyValue] {
    let value = try node.value(forKey: property.name)
    let others = (value as? [ManagedObject]) ?? (value as? ManagedObject).map { [$0] } ?? []
    return try others.map { try $0.propertyValue(forKey: "number") }
  }
}
