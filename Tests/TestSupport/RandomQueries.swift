import Foundation
package import HeartwoodModel
package import HeartwoodTesting

/// A model with attributes of all types and relationships of all kinds, and random values, predicates and orders for it. The values are
/// few, so that they meet.
package struct RandomQueries {
  package let model: ManagedObjectModel
  package let item: EntityDescription
  /// The objects that predicates name, by the ordinal of their entity; some may be gone.
  package var objectIDs: [Int: [ManagedObjectID]] = [:]
  package var generator: SeededGenerator

  /// - Parameter indexes: what the entity `Item` has beside an index for each of its attributes.
  package init(seed: UInt64, indexes: [FetchIndexDescription] = []) throws {
    print("seed \(seed)")
    generator = SeededGenerator(seed: seed)
    var definitions: [EntityDefinition] = [
      .entity(
        "Item",
        .attribute("i16", .integer16, optional: true),
        .attribute("i32", .integer32, optional: true),
        .attribute("i64", .integer64, optional: true),
        .attribute("dec", .decimal, optional: true),
        .attribute("dbl", .double, optional: true),
        .attribute("flt", .float, optional: true),
        .attribute("str", .string, optional: true),
        .attribute("other", .string, optional: true),
        .attribute("flag", .boolean, optional: true),
        .attribute("date", .date, optional: true),
        .attribute("uuid", .uuid, optional: true),
        .attribute("url", .uri, optional: true),
        .attribute("data", .binary, optional: true),
        .attribute("full", .integer32),
        .toOne("list", "List", inverse: "items"),
        .toMany("tags", "Tag", inverse: "items"),
        .toOne("next", "Item", inverse: nil)
      ),
      .entity(
        "List",
        .attribute("name", .string, optional: true),
        .attribute("order", .integer32, optional: true),
        .toMany("items", "Item", inverse: "list")
      ),
      .entity("Tag", .attribute("name", .string, optional: true), .toMany("items", "Item", inverse: "tags")),
    ]
    definitions[0].fetchIndexes = definitions[0].properties.compactMap { property in
      property.attribute.map { FetchIndexDescription(name: "by \($0.name)", properties: [$0.name]) }
    }
    definitions[0].fetchIndexes += indexes
    model = try ManagedObjectModel(entities: definitions)
    item = model.entities[0]
  }
}

extension RandomQueries {
  /// Values for all properties of a record of `entity`.
  package mutating func values(_ entity: EntityDescription) -> [PropertyValue] {
    entity.properties.map { property in
      if property.name == "full" { return .integer(Int64.random(in: -9...9, using: &generator)) }
      if let type = property.attribute?.type { return generator.chance(oneIn: 5) ? .null : value(of: type) }
      return property.relationship?.isToMany ?? false ? .toMany(ids(property.name)) : id(property.name)
    }
  }

  private mutating func ids(_ name: String) -> [ManagedObjectID] {
    var ids: [ManagedObjectID] = []
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      if case .toOne(let id) = id(name), !ids.contains(id) { ids.append(id) }
    }
    return ids
  }

  /// An object for a relationship, or nothing; now and then one that was deleted.
  package mutating func id(_ relationship: String) -> PropertyValue {
    let ordinals = ["list": 1, "tags": 2, "items": 0, "next": 0]
    let ids = objectIDs[ordinals[relationship] ?? 0] ?? []
    let place = Int.random(in: -1..<max(1, ids.count), using: &generator)
    return ids.indices.contains(place) ? .toOne(ids[place]) : .null
  }

  private static let strings = [
    "", "a", "A", "abc", "ABC", "aBcabc", "xabcx", "é", "e\u{301}", "É", "straße", "STRASSE", "Strasse", "İstanbul",
    "istanbul",
    "ﬁn", "FIN", "か\u{3099}", "が", "か", "10", "9", "a10", "a9", "日本語", "abcdefgh", "abcdefghi", "abcdefghj", "Ab\u{0}c",
    "ΣΊΣΥΦΟΣ", "σίσυφος", "\u{1F600} smile", "ȧb\u{323}",
    "this is a rather long string, so that it passes the width of a block: abc",
    "THIS IS A RATHER LONG STRING, SO THAT IT PASSES THE WIDTH OF A BLOCK: É abc É",
  ]

  /// A value of few that are possible, so that values meet.
  package mutating func value(of type: AttributeType) -> PropertyValue {
    let odd = generator.chance(oneIn: 6)
    switch type {
    case .integer16: return .integer(odd ? Int64(Int16.min) : .random(in: -3...3, using: &generator))
    case .integer32: return .integer(odd ? Int64(Int32.max) : .random(in: -3...3, using: &generator))
    case .integer64:
      return .integer(
        odd
          ? [.min, .max, 1 << 53 + 1][Int.random(in: 0..<3, using: &generator)] : .random(in: -3...3, using: &generator)
      )
    case .decimal: return .decimal(odd ? .nan : Decimal(Int.random(in: -6...6, using: &generator)) / 2)
    case .double: return .double(Self.doubles(odd, &generator))
    case .float: return .float(Float(Self.doubles(odd, &generator)))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Self.doubles(odd, &generator)))
    case .string: return .string(Self.strings.randomElement(using: &generator) ?? "")
    case .boolean: return .boolean(generator.chance(oneIn: 2))
    case .uuid:
      return .uuid(
        UUID(uuid: (UInt8.random(in: 0...3, using: &generator), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
      )
    case .uri:
      return URL(string: "https://example.org/\(Int.random(in: 0...3, using: &generator))").map(PropertyValue.uri)
        ?? .null
    case .binary, .transformable, .undefined: return .binary(Data([UInt8.random(in: 0...3, using: &generator)]))
    }
  }

  private static func doubles(_ odd: Bool, _ generator: inout SeededGenerator) -> Double {
    let oddities = [Double.nan, .infinity, -.infinity, -0.0, 9_223_372_036_854_775_808]
    return odd
      ? oddities[Int.random(in: 0..<5, using: &generator)] : Double(Int.random(in: -6...6, using: &generator)) / 2
  }
}

// MARK: Predicates

extension RandomQueries {
  package mutating func predicate(depth: Int) -> FetchPredicate {
    switch Int.random(in: depth > 0 ? 0...5 : 3...5, using: &generator) {
    case 0: return .not(predicate(depth: depth - 1))
    case 1: return .and((0..<Int.random(in: 1...3, using: &generator)).map { _ in predicate(depth: depth - 1) })
    case 2: return .or((0..<Int.random(in: 1...3, using: &generator)).map { _ in predicate(depth: depth - 1) })
    default: return .comparison(comparison())
    }
  }

  private mutating func comparison() -> FetchComparison {
    switch Int.random(in: 0...9, using: &generator) {
    case 0: return relationshipComparison()
    case 1: return collectionComparison()
    case 2:
      return FetchComparison(.selfObject, generator.chance(oneIn: 2) ? .in : .equalTo, .constant(.null)).withObjects(
        &self
      )
    case 3: return appliedComparison()
    default: return attributeComparison()
    }
  }

  private mutating func attributeComparison() -> FetchComparison {
    let path = generator.chance(oneIn: 6) ? ["list", "order"] : nil
    let attribute = item.attributes.randomElement(using: &generator) ?? item.attributes[0]
    let type = path == nil ? attribute.type : .integer32
    let key = FetchExpression.keyPath(of: .selfObject, (path ?? [attribute.name]).map(FetchKey.property))
    let comparator = comparator(type)
    let operand = operand(type, comparator)
    let isTurned =
      generator.chance(oneIn: 8)
      && !([.between, .in, .contains, .beginsWith, .endsWith, .like, .matches].contains(comparator))
    return FetchComparison(
      isTurned ? operand : key,
      comparator,
      isTurned ? key : operand,
      options: generator.chance(oneIn: 2) ? [] : .init(rawValue: Int.random(in: 0..<16, using: &generator))
    )
  }

  /// A comparison of what functions and operators make.
  private mutating func appliedComparison() -> FetchComparison {
    let (left, type) = applied()
    let comparator = comparator(type)
    let operand = operand(type, comparator)
    let options = FetchComparison.Options(rawValue: generator.chance(oneIn: 2) ? 0 : number(0...7))
    let isTurned = [.equalTo, .notEqualTo, .lessThan, .greaterThanOrEqualTo].contains(comparator) && number(0...5) == 0
    return FetchComparison(isTurned ? operand : left, comparator, isTurned ? left : operand, options: options)
  }

  /// What a function or an operator makes, and of which type that is.
  private mutating func applied() -> (FetchExpression, AttributeType) {
    switch number(0...5) {
    case 0: return (.function(pick([.lowercase, .uppercase, .canonical]), [pick(Self.texts)]), .string)
    case 1: return (.function(.length, [pick(Self.texts)]), .integer32)
    case 2: return (.function(pick(Self.numberFunctions), [pick(Self.numbers)]), .double)
    case 3:
      let second = pick(Self.numbers + [.constant(.integer(Int64(number(-2...3)))), .constant(.null)])
      return (.function(pick(Self.pairFunctions), [pick(Self.numbers), second]), .integer64)
    case 4: return collected()
    default: return computed()
    }
  }

  private static let texts: [FetchExpression] = [.key("str"), .key("other"), .key("list", "name")]
  private static let numbers: [FetchExpression] = ["i16", "i32", "i64", "dec", "dbl", "flt", "flag", "full"].map {
    .key($0)
  }
  private static let numberFunctions: [FetchFunction] = [
    .absolute, .negate, .floor, .ceiling, .truncate, .squareRoot, .logarithm, .naturalLogarithm, .exponential,
    .onesComplement,
  ]
  private static let pairFunctions: [FetchFunction] = [
    .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift,
  ]
  private static let collectionFunctions: [FetchFunction] = [
    .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation,
  ]

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...(elements.count - 1))] }

  /// What is made of the members of a collection.
  private mutating func collected() -> (FetchExpression, AttributeType) {
    let name = pick(["i16", "i32", "i64", "dec", "dbl", "flt", "flag", "full"])
    switch number(0...3) {
    case 0: return (.keyPath(of: .key("tags"), [.collection(pick([.min, .max])), .property("name")]), .string)
    case 1:
      return (.function(pick(Self.collectionFunctions), [.key("list", "items", name)]), .double)
    default:
      let symbol = pick([CollectionOperator.sum, .min, .max, .average, .count])
      return (.keyPath(of: .key("list", "items"), [.collection(symbol), .property(name)]), .integer32)
    }
  }

  /// What is computed of numbers and dates, or chosen.
  private mutating func computed() -> (FetchExpression, AttributeType) {
    switch number(0...5) {
    case 4: return (.cast(pick(Self.numbers), pick([.integer, .double, .boolean, .float])), .double)
    case 5: return (.cast(pick(Self.texts + [.key("date")]), pick([.integer, .double])), .integer32)
    case 0: return (.arithmetic(.key("date"), pick([.add, .subtract]), pick(Self.numbers)), .date)
    case 1: return (.arithmetic(.key("date"), .subtract, .constant(value(of: .date))), .double)
    case 2:
      let absolute = FetchExpression.function(.absolute, [pick(Self.numbers)])
      return (.arithmetic(absolute, pick([.add, .subtract, .multiply]), pick(Self.numbers)), .integer64)
    default:
      let condition = FetchPredicate.comparison(attributeComparison())
      return (.conditional(condition, pick(Self.numbers), .constant(.integer(Int64(number(0...3))))), .double)
    }
  }

  private mutating func comparator(_ type: AttributeType) -> FetchComparison.Comparator {
    let equality: [FetchComparison.Comparator] = [.equalTo, .notEqualTo, .in]
    let order: [FetchComparison.Comparator] = [
      .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between,
    ]
    switch type {
    case .string: return FetchComparison.Comparator.allCases.randomElement(using: &generator) ?? .equalTo
    case .binary, .transformable, .uri, .undefined: return equality.randomElement(using: &generator) ?? .equalTo
    default: return (equality + order).randomElement(using: &generator) ?? .equalTo
    }
  }

  private mutating func operand(_ type: AttributeType, _ comparator: FetchComparison.Comparator) -> FetchExpression {
    let numbers: [AttributeType] = [.integer16, .integer32, .integer64, .decimal, .double, .float, .boolean]
    func one(_ queries: inout RandomQueries) -> FetchExpression {
      if queries.generator.chance(oneIn: 10) { return .constant(.null) }
      let other = numbers.contains(type) ? numbers.randomElement(using: &queries.generator) ?? type : type
      return .constant(queries.value(of: other))
    }
    switch comparator {
    case .between: return .aggregate([one(&self), one(&self)])
    case .in where type == .string && generator.chance(oneIn: 3): return one(&self)
    case .in: return .aggregate((0..<Int.random(in: 0...12, using: &generator)).map { _ in one(&self) })
    case .like:
      return .constant(
        .string(["*abc*", "a*", "?", "*", "", "\\*", "*?c", "é*", "a?c*"].randomElement(using: &generator) ?? "")
      )
    case .matches:
      return .constant(.string(["a.*", "[A-C]+", "é", ".*abc.*", ""].randomElement(using: &generator) ?? ""))
    case .equalTo, .lessThan:
      return type == .string && generator.chance(oneIn: 6) ? .key("other") : one(&self)
    default: return one(&self)
    }
  }

  private mutating func relationshipComparison() -> FetchComparison {
    let name = generator.chance(oneIn: 2) ? "list" : "next"
    if generator.chance(oneIn: 2) {
      return FetchComparison(.key(name), generator.chance(oneIn: 2) ? .equalTo : .notEqualTo, .value(id(name)))
    }
    return FetchComparison(.key(name), .in, .aggregate((0..<3).map { _ in .value(id(name)) }))
  }

  private mutating func collectionComparison() -> FetchComparison {
    let modifier = FetchComparison.Modifier.allCases.randomElement(using: &generator) ?? .any
    let comparator: FetchComparison.Comparator = generator.chance(oneIn: 2) ? .equalTo : .notEqualTo
    if modifier == .direct {
      let count = FetchExpression.keyPath(of: .key("tags"), [.collection(.count)])
      let number = FetchExpression.constant(.integer(Int64.random(in: 0...3, using: &generator)))
      return FetchComparison(count, generator.chance(oneIn: 2) ? .greaterThan : comparator, number)
    }
    if generator.chance(oneIn: 3) {
      return FetchComparison(.key("tags"), .in, .aggregate((0..<3).map { _ in .value(id("tags")) }), modifier: modifier)
    }
    if generator.chance(oneIn: 2) {
      return FetchComparison(.key("tags"), comparator, .value(id("tags")), modifier: modifier)
    }
    return FetchComparison(
      .key("tags", "name"),
      comparator,
      .constant(value(of: .string)),
      modifier: modifier,
      options: .caseInsensitive
    )
  }

  package mutating func sorts() -> [FetchSortDescriptor] {
    let keys = [
      "i16", "i32", "i64", "dec", "dbl", "flt", "str", "other", "flag", "date", "uuid", "full", "list.order",
      "list.name", "tags.@count",
    ]
    return (0..<Int.random(in: 1...3, using: &generator)).map { _ in
      FetchSortDescriptor(
        keys.randomElement(using: &generator) ?? "i16",
        ascending: generator.chance(oneIn: 2),
        comparison: FetchSortDescriptor.Comparison.allCases.randomElement(using: &generator) ?? .value
      )
    }
  }

  package mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
}

extension FetchComparison {
  /// The comparison with objects on the right.
  fileprivate func withObjects(_ queries: inout RandomQueries) -> FetchComparison {
    var comparison = self
    let ids = (0..<3).map { _ in FetchExpression.value(queries.id("items")) }
    comparison.right = comparator == .in ? .aggregate(ids) : ids[0]
    return comparison
  }
}
