import Foundation
import HeartwoodModel
import Testing

@Suite struct FormatArgumentTests {
  @Test func takesArgumentsInOrder() throws {
    let date = Date(timeIntervalSinceReferenceDate: 60)
    let predicate = try FetchPredicate(
      format: "done == NO AND memo CONTAINS[cd] %@ AND %K > %d AND ANY tags.name IN %@ AND due < %@ AND x == %f",
      "a \"b\" %d",
      "list.order",
      7,
      ["x", "y"],
      date,
      1.5
    )
    #expect(
      predicate.description == """
        done == NO AND memo CONTAINS[cd] "a \\"b\\" %d" AND list.order > 7 AND ANY tags.name IN {"x", "y"} \
        AND due < CAST(60.0, "Date") AND x == 1.5
        """
    )
  }

  @Test(arguments: ["%d", "%i", "%u", "%ld", "%lu", "%lld", "%llu", "%hd", "%qi", "%zd", "%x", "%@"])
  func takesIntegers(_ conversion: String) throws {
    #expect(try FetchExpression(format: conversion, 5) == .constant(.integer(5)))
  }

  @Test func takesEveryKindOfValue() throws {
    let uuid = UUID()
    let url = try #require(URL(string: "https://example.org/a?b"))
    let object = ObjectURI(storeIdentifier: uuid, entityName: "List", reference: .string("7"))
    let arguments: [(any FetchArgument, FetchExpression)] = [
      (UInt8(7), .constant(.integer(7))), (UInt64.max, .constant(.decimal(Decimal(UInt64.max)))),
      (Decimal(3), .constant(.decimal(3))), (Float(0.1), .constant(.float(0.1))), (true, .constant(.boolean(true))),
      (Data([1, 2]), .constant(.binary(Data([1, 2])))), (uuid, .constant(.uuid(uuid))), (url, .constant(.uri(url))),
      (object, .object(object)), (String?.none, .constant(.null)),
      (1...3, .aggregate([.constant(.integer(1)), .constant(.integer(3))])),
      (Set([4]), .aggregate([.constant(.integer(4))])), (PropertyValue.string("x"), .constant(.string("x"))),
      (FetchExpression.key("a", "b"), .key("a", "b")), ("abc".dropFirst(), .constant(.string("bc"))),
    ]
    for (argument, expected) in arguments { #expect(try FetchExpression(format: "%@", argument) == expected) }
  }

  @Test func substitutesVariables() throws {
    let template = try FetchPredicate(format: "a == $A AND SUBQUERY(b, $x, $x.c == $A AND $x.d == $OPEN).@count > 0")
    #expect(template.variables == ["A", "OPEN"])
    let predicate = template.substituting(["A": 5, "x": "not this"])
    #expect(
      predicate.description == "a == 5 AND SUBQUERY(b, $x, $x.c == 5 AND $x.d == $OPEN).@count > 0"
    )
    #expect(predicate.substituting(["OPEN": FetchExpression.key("e")]).variables.isEmpty)
    #expect(
      try FetchPredicate(format: "$K.b == 1").substituting(["K": FetchExpression.key("a")])
        == FetchPredicate(format: "a.b == 1")
    )
  }

  /// What is put into a subquery never becomes the object that it tests.
  @Test func substitutesVariablesThatHaveTheNameOfASubquerys() throws {
    let template = try FetchPredicate(format: "SUBQUERY(items, $x, $x.width > $y AND $z == 1).@count > 0")
    #expect(
      template.substituting(["y": FetchExpression.variable("x")]).description
        == "SUBQUERY(items, $x_, $x_.width > $x AND $z == 1).@count > 0"
    )
    #expect(
      template.substituting(["y": FetchExpression.variable("x"), "z": FetchExpression.variable("x_")]).description
        == "SUBQUERY(items, $x__, $x__.width > $x AND $x_ == 1).@count > 0"
    )
    #expect(template.substituting(["other": FetchExpression.variable("x")]) == template)
    let nested = try FetchPredicate(
      format: "SUBQUERY(a, $x, SUBQUERY($x.b, $x_, $x_.c == $x.c AND $x_.d == $y).@count > 0).@count > 0"
    )
    #expect(
      nested.substituting(["y": FetchExpression.variable("x")]).description
        == "SUBQUERY(a, $x_, SUBQUERY($x_.b, $x__, $x__.c == $x_.c AND $x__.d == $x).@count > 0).@count > 0"
    )
  }

  @Test func namesUnsavedObjectsButDoesNotEncodeThem() throws {
    let model = try ManagedObjectModel(entities: [.entity("List")])
    let scope = ObjectIDScope(storeIdentifier: nil, entity: try #require(model.entity(named: "List")))
    let predicate = try FetchPredicate(format: "list == %@", ManagedObjectID.temporary(in: scope))
    #expect(predicate.description.hasPrefix("list == CAST(\"x-coredata:///List/t"))
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([predicate]) }
  }
}
