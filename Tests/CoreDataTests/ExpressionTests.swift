import CoreData
import Testing

/// Expressions and predicates that are composed, compared, printed and evaluated.
@Suite struct ExpressionTests {
  private static func comparison(
    _ left: NSExpression,
    _ type: NSComparisonPredicate.Operator,
    _ right: NSExpression,
    _ modifier: NSComparisonPredicate.Modifier = .direct,
    _ options: NSComparisonPredicate.Options = []
  ) -> NSComparisonPredicate {
    NSComparisonPredicate(
      leftExpression: left,
      rightExpression: right,
      modifier: modifier,
      type: type,
      options: options
    )
  }

  private static var age: NSExpression { NSExpression(forKeyPath: "age") }

  @Test func composedPredicatesEqualParsedOnes() {
    let ten = NSExpression(forConstantValue: 10)
    let pairs: [(NSPredicate, NSPredicate)] = [
      (Self.comparison(Self.age, .equalTo, ten), NSPredicate(format: "age == 10")),
      (Self.comparison(Self.age, .notEqualTo, ten), NSPredicate(format: "age != 10")),
      (Self.comparison(Self.age, .lessThanOrEqualTo, ten), NSPredicate(format: "age <= %d", 10)),
      (
        Self.comparison(Self.age, .in, NSExpression(forConstantValue: [5, 10])),
        NSPredicate(format: "age IN %@", [5, 10])
      ),
      (
        Self.comparison(Self.age, .equalTo, NSExpression(forConstantValue: Optional<Int>.none)),
        NSPredicate(format: "age == %@", NSNull())
      ),
      (
        Self.comparison(
          NSExpression(forKeyPath: "items.title"),
          .beginsWith,
          NSExpression(forConstantValue: "a"),
          .any,
          [.caseInsensitive, .diacriticInsensitive]
        ),
        NSPredicate(format: "ANY items.title BEGINSWITH[cd] 'a'")
      ),
      (
        Self.comparison(
          NSExpression(
            forFunction: "count:",
            arguments: [
              NSExpression(
                forSubquery: NSExpression(forKeyPath: "items"),
                usingIteratorVariable: "x",
                predicate: Self.comparison(NSExpression(forKeyPath: "$x.price"), .greaterThan, ten)
              )
            ]
          ),
          .greaterThan,
          NSExpression(forConstantValue: 0)
        ),
        NSPredicate(format: "count(SUBQUERY(items, $x, $x.price > 10)) > 0")
      ),
      (
        NSCompoundPredicate(
          notPredicateWithSubpredicate: NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "age > 1"), NSPredicate(format: "name == 'Anna'"),
          ])
        ),
        NSPredicate(format: "NOT (age > 1 AND name == 'Anna')")
      ),
    ]
    for (composed, parsed) in pairs {
      #expect(composed == parsed && parsed == composed && composed.hash == parsed.hash)
      #expect(composed.description == parsed.description || composed.description.contains("<null>"))
    }
    #expect(Self.comparison(Self.age, .equalTo, ten) != NSPredicate(format: "age == 11"))
    #expect(Self.comparison(Self.age, .equalTo, ten) != Self.comparison(Self.age, .equalTo, ten, .any))
    #expect(NSPredicate(format: "a == 1 AND b == 2") != NSPredicate(format: "a == 1 OR b == 2"))
  }

  @Test func predicatesDifferFromConstants() {
    #expect(NSPredicate(value: true) != NSPredicate(format: "age == 10"))
    #expect(NSPredicate(format: "age == 10") != NSPredicate(value: true))
    #expect(!NSPredicate(value: true).isEqual(NSPredicate(format: "a == 1 OR b == 1")))
    #expect(NSPredicate(format: "TRUEPREDICATE") == NSPredicate(value: true))
  }

  @Test func predicatesArePrinted() {
    #expect(
      NSPredicate(format: "name == %@ && (age > 3 || NOT age = 1)", "A \"b\"").description
        == #"name == "A \"b\"" AND (age > 3 OR NOT age == 1)"#
    )
    #expect(
      NSPredicate(format: "NONE items.title CONTAINS[c] 'x'").description
        == #"NOT ANY items.title CONTAINS[c] "x""#
    )
    #expect(
      Self.comparison(Self.age, .equalTo, NSExpression(forConstantValue: NSNull())).description == "age == <null>"
    )
    #expect(NSPredicate(format: "age == nil").description == "age == nil")
  }

  @Test func partsOfParsedPredicatesAreRead() throws {
    let parsed = try #require(NSPredicate(format: "ANY items.price BETWEEN %@", [1, 2]) as? NSComparisonPredicate)
    #expect(parsed.leftExpression.expressionType == .keyPath && parsed.leftExpression.keyPath == "items.price")
    #expect(parsed.rightExpression.expressionType == .aggregate)
    #expect((parsed.rightExpression.collection as? [NSExpression])?.map { $0.constantValue as? Int } == [1, 2])
    #expect(parsed.predicateOperatorType == .between && parsed.comparisonPredicateModifier == .any)
    let compound = try #require(NSPredicate(format: "a == 1 OR b == 2") as? NSCompoundPredicate)
    #expect(compound.compoundPredicateType == .or && compound.subpredicates.count == 2)
    let sum = NSExpression(format: "price * %@", 2)
    #expect(sum.function == "multiply:by:" && sum.arguments?.first == NSExpression(forKeyPath: "price"))
    #expect(NSExpression(format: "tags[SIZE]") == NSExpression(format: "(tags)[SIZE]"))
    #expect(NSExpression(format: "items.@sum.price").keyPath == "items.@sum.price")
  }

  @Test func expressionsAreEvaluated() {
    let order: [String: Any] = ["price": 4, "count": 3]
    #expect(NSExpression(forKeyPath: "price").expressionValue(with: order, context: nil) as? Int == 4)
    #expect(NSExpression(format: "price * count + 1").expressionValue(with: order, context: nil) as? Int == 13)
    #expect(
      NSExpression(forFunction: "sum:", arguments: [NSExpression(forConstantValue: [1, 2, 3])])
        .expressionValue(with: nil, context: nil) as? Int == 6
    )
    let choice = NSExpression(
      forConditional: NSPredicate(format: "price > 3"),
      trueExpression: NSExpression(forConstantValue: "dear"),
      falseExpression: NSExpression(forConstantValue: "cheap")
    )
    #expect(choice.expressionValue(with: order, context: nil) as? String == "dear")
    #expect(
      Self.comparison(Self.age, .greaterThan, NSExpression(forVariable: "MIN")).evaluate(
        with: ["age": 4],
        substitutionVariables: ["MIN": 3]
      )
    )
  }

  @Test func namesOfKeyPathsAreLearnt() {
    #expect(NSExpression(forKeyPath: \ToDo.list?.title).keyPath == "list.title")
    #expect((\ToDo.memo as AnyKeyPath)._kvcKeyPathString == "memo")
    #expect((\Plain.name as AnyKeyPath)._kvcKeyPathString == "name")
    #expect((\Noted.name as AnyKeyPath)._kvcKeyPathString == "name")
    #expect((\ToDo.kind as AnyKeyPath)._kvcKeyPathString == "kind")
    #expect((\ToDo.memo?.count as AnyKeyPath)._kvcKeyPathString == nil)
    #expect((\String.count as AnyKeyPath)._kvcKeyPathString == nil)
  }

  @Test(arguments: Stack.types) func composedPredicatesFetch(type: String) throws {
    let stack = try Stack(type)
    try stack.context.performAndWait { () throws in
      for (index, memo) in ["Milk", "Bread", "Cheese"].enumerated() { stack.insert(memo, Int16(index)) }
      try stack.context.save()
      let request = toDoRequest()
      request.predicate = NSCompoundPredicate(orPredicateWithSubpredicates: [
        Self.comparison(NSExpression(forKeyPath: "memo"), .like, NSExpression(forConstantValue: "M*")),
        Self.comparison(NSExpression(forKeyPath: \ToDo.sortOrder), .greaterThan, NSExpression(forConstantValue: 1)),
      ])
      request.sortDescriptors = [NSSortDescriptor(key: "memo", ascending: true)]
      #expect(try stack.context.fetch(request).map(\.memo) == ["Cheese", "Milk"])
      request.predicate = Self.comparison(NSExpression(forFunction: "nothing:", arguments: [1]), .equalTo, Self.age)
      #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
    }
  }

  @Test(arguments: Stack.types) func columnsAreComputed(type: String) throws {
    let stack = try Stack(type)
    try stack.context.performAndWait { () throws in
      for order in 1...3 { stack.insert("a", Int16(order), done: order > 1) }
      try stack.context.save()
      let total = NSExpressionDescription()
      total.name = "total"
      total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "sortOrder")])
      total.expressionResultType = .integer64AttributeType
      let request = NSFetchRequest<NSDictionary>(entityName: "ToDo")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["done", total]
      request.propertiesToGroupBy = ["done"]
      request.sortDescriptors = [NSSortDescriptor(key: "done", ascending: true)]
      #expect(try stack.context.fetch(request).map { $0["total"] as? Int } == [1, 5])
      total.expression = nil
      #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
    }
  }

  private final class Plain: NSObject {
    var name = ""
  }

  // What heartwood-coredata makes of `@objc var name: String?`.
  class Noted: NSManagedObject {
    var name: String?; override class var keyPathNames: [AnyKeyPath: String] { [\Noted.name: "name"] }
  }

  // MARK: Objects that are no managed ones

  final class Event: NSObject, KeyPathNaming {
    let id: Int
    let speakers: [String]

    init(_ id: Int, _ speakers: [String] = []) {
      self.id = id
      self.speakers = speakers
    }

    static var keyPathNames: [AnyKeyPath: String] { [\Event.id: "id"] }
  }

  @Test func keysOfOtherObjectsAreTheirStoredProperties() {
    let events = [Event(1, ["A"]), Event(2)]
    let predicate = NSPredicate(format: "id > 0 AND speakers.@count > 0 AND speakers CONTAINS 'A'")
    #expect(events.map { predicate.evaluate(with: $0) } == [true, false])
    let sorted = (events as NSArray).sortedArray(using: [NSSortDescriptor(key: "id", ascending: false)])
    #expect(sorted.compactMap { ($0 as? Event)?.id } == [2, 1])
  }

  @Test func sortDescriptorsOfTheStandardLibraryAreConverted() throws {
    let descriptor = NSSortDescriptor(SortDescriptor(\Event.id, order: .reverse))
    #expect(descriptor.key == "id" && !descriptor.ascending)
    #expect(descriptor == NSSortDescriptor(SortDescriptor(\Event.id, order: .reverse)))
    #expect(descriptor.compare(Event(1), to: Event(2)) == .orderedDescending)
    #expect((descriptor.reversedSortDescriptor as? NSSortDescriptor)?.ascending == true)
    let back = try #require(SortDescriptor(descriptor, comparing: Event.self))
    #expect([Event(1), Event(2)].sorted(using: back).map(\.id) == [2, 1])
    let keyed = try #require(SortDescriptor(NSSortDescriptor(key: "id", ascending: false), comparing: Event.self))
    #expect([Event(1), Event(3), Event(2)].sorted(using: keyed).map(\.id) == [3, 2, 1])
    #expect(NSSortDescriptor(keyed).key == "id")
    let keyless = NSSortDescriptor(key: nil, ascending: true)
    #expect(keyless.key == nil && SortDescriptor(keyless, comparing: Event.self) == nil)
  }
}
