import HeartwoodModel
import Testing

/// Everything that Apple's "Predicate Format String Syntax" and the grammar in the "Predicate Programming Guide" list, and what
/// it reads as.
@Suite struct FormatSyntaxTests {
  @Test(
    arguments: [
      // Comparisons and their spellings.
      ("a = 1", "a == 1"), ("a == 1", "a == 1"), ("a >= 1", "a >= 1"), ("a => 1", "a >= 1"), ("a <= 1", "a <= 1"),
      ("a =< 1", "a <= 1"), ("a > 1", "a > 1"), ("a < 1", "a < 1"), ("a != 1", "a != 1"), ("a <> 1", "a != 1"),
      ("a BETWEEN {1, 9}", "a BETWEEN {1, 9}"), ("a between { $LOW , $HIGH }", "a BETWEEN {$LOW, $HIGH}"),
      // Boolean values.
      ("TRUEPREDICATE", "TRUEPREDICATE"), ("falsepredicate", "FALSEPREDICATE"),
      // Compounds, by words and by signs.
      ("a == 1 AND b == 2", "a == 1 AND b == 2"), ("a == 1 && b == 2", "a == 1 AND b == 2"),
      ("a == 1 OR b == 2", "a == 1 OR b == 2"), ("a == 1 || b == 2", "a == 1 OR b == 2"),
      ("NOT a == 1", "NOT a == 1"), ("! a == 1", "NOT a == 1"), ("!(a == 1)", "NOT a == 1"),
      ("a == 1 OR b == 2 AND c == 3", "a == 1 OR (b == 2 AND c == 3)"),
      ("(a == 1 OR b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
      ("NOT a == 1 AND b == 2", "NOT a == 1 AND b == 2"), ("NOT (a == 1 AND b == 2)", "NOT (a == 1 AND b == 2)"),
      ("a == 1 AND b == 2 AND c == 3", "a == 1 AND b == 2 AND c == 3"),
      ("(a == 1 AND b == 2) AND c == 3", "(a == 1 AND b == 2) AND c == 3"),
      // Strings.
      ("a BEGINSWITH 'x'", "a BEGINSWITH \"x\""), ("a CONTAINS \"x\"", "a CONTAINS \"x\""),
      ("a endswith 'x'", "a ENDSWITH \"x\""), ("a LIKE 'x*?'", "a LIKE \"x*?\""),
      ("a MATCHES 'x.'", "a MATCHES \"x.\""),
      ("a CONTAINS[c] 'x'", "a CONTAINS[c] \"x\""), ("a LIKE[dc] 'x'", "a LIKE[cd] \"x\""),
      ("a ==[CD] 'x'", "a ==[cd] \"x\""), ("a == [n] 'x'", "a ==[n] \"x\""), ("a <[l] 'x'", "a <[l] \"x\""),
      (#"a == 'it\'s "so"'"#, #"a == "it's \"so\"""#), (#"a == "\u00e9\x41\n""#, #"a == "éA\n""#),
      ("a == '%@ %d'", "a == \"%@ %d\""),
      // Aggregates.
      ("ANY a.b < 18", "ANY a.b < 18"), ("SOME a.b < 18", "ANY a.b < 18"), ("ALL a.b < 18", "ALL a.b < 18"),
      ("NONE a.b < 18", "NONE a.b < 18"), ("any(a.b < 18)", "ANY a.b < 18"), ("NOT ANY a == 1", "NOT ANY a == 1"),
      ("NOT a IN {1, 2}", "NOT a IN {1, 2}"), ("NOT (a IN {1, 2})", "NOT a IN {1, 2}"), ("$X IN a.b", "$X IN a.b"),
      ("a IN {'x', 'y'}", "a IN {\"x\", \"y\"}"), ("1 IN a", "1 IN a"), ("a IN {}", "a IN {}"),
      ("a[0] == 1", "a[0] == 1"), ("a[FIRST] == 1", "a[FIRST] == 1"), ("a[last].b == 1", "a[LAST].b == 1"),
      ("a[SIZE] > 2", "a[SIZE] > 2"), ("a[i + 1] == 1", "a[i + 1] == 1"),
      // Key paths and collection operators.
      ("a.b.c == 1", "a.b.c == 1"), ("SELF.a == 1", "a == 1"), ("SELF == $X", "SELF == $X"),
      ("a.@count > 2", "a.@count > 2"), ("a.@sum.b > 2", "a.@sum.b > 2"), ("@sum.a.b < 1000", "@sum.a.b < 1000"),
      ("a.@min.b == a.@max.b", "a.@min.b == a.@max.b"), ("a.@avg.b > 0.5", "a.@avg.b > 0.5"),
      ("a.@distinctUnionOfObjects.b == 1", "a.@distinctUnionOfObjects.b == 1"),
      ("a.@unionOfObjects.b == 1", "a.@unionOfObjects.b == 1"), ("a.@unionOfSets.b == 1", "a.@unionOfObjects.b == 1"),
      ("a.@distinctUnionOfArrays.b == 1", "a.@distinctUnionOfObjects.b == 1"),
      ("a.@distinctUnionOfSets.b == 1", "a.@distinctUnionOfObjects.b == 1"),
      ("a.@unionOfArrays.b == 1", "a.@unionOfObjects.b == 1"), ("größe == 1", "größe == 1"),
      // Reserved words as keys.
      ("#in == 1", "#in == 1"), ("#Any.x == 1", "#Any.x == 1"), ("#size == 1", "#size == 1"),
      ("size == 1", "#size == 1"),
      ("anykey == 1", "#anykey == 1"), ("ci == 1", "#ci == 1"), ("first.last == 1", "#first.#last == 1"),
      ("a.and == 1", "a.#and == 1"), ("#'my key' == 1", "#\"my key\" == 1"),
      // Literals.
      ("a == NULL", "a == nil"), ("a == nil", "a == nil"), ("a == TRUE", "a == YES"), ("a == yes", "a == YES"),
      ("a == FALSE", "a == NO"), ("a == No", "a == NO"), ("a == -5", "a == -5"), ("a == +5", "a == 5"),
      ("a == 0x1F", "a == 31"), ("a == 0o17", "a == 15"), ("a == 0b101", "a == 5"), ("a == 1.5e3", "a == 1500.0"),
      ("a == 1e-3", "a == 0.001"), ("a == -9223372036854775808", "a == -9223372036854775808"),
      ("a == {1, {2}}", "a == {1, {2}}"), ("$A == $B", "$A == $B"),
      // Arithmetic.
      ("a + b * c == 1", "a + (b * c) == 1"), ("(a + b) * c == 1", "(a + b) * c == 1"),
      ("a - b - c == 1", "(a - b) - c == 1"), ("a ** b ** c == 1", "a ** (b ** c) == 1"), ("a / 2 == 1", "a / 2 == 1"),
      ("-a == 1", "-(a) == 1"), ("a -5 == 1", "a - 5 == 1"), ("add:to:(a, 1) == 2", "a + 1 == 2"),
      // Functions.
      ("a < now()", "a < now()"), ("lowercase(a) == 'x'", "lowercase:(a) == \"x\""),
      ("uppercase:(a) == 'X'", "uppercase:(a) == \"X\""), ("length(a) > 3", "length:(a) > 3"),
      ("abs(a) > 3", "abs:(a) > 3"), ("sum(a.b) > 3", "sum:(a.b) > 3"), ("max({a, b}) > 3", "max:({a, b}) > 3"),
      ("max(a, b) > 3", "max:({a, b}) > 3"), ("modulus:by:(a, 2) == 0", "modulus:by:(a, 2) == 0"),
      ("canonical:(a) == 'x'", "canonical:(a) == \"x\""), ("FLOOR(a) == 1", "floor:(a) == 1"),
      ("bitwiseAnd:with:(a, 4) != 0", "bitwiseAnd:with:(a, 4) != 0"), ("noindex:(a) == 1", "a == 1"),
      ("from:subtract:(a, 1) == 2", "a - 1 == 2"), ("multiply:by:(a, 2) == 2", "a * 2 == 2"),
      ("divide:by:(a, 2) == 2", "a / 2 == 2"), ("raise:toPower:(a, 2) == 2", "a ** 2 == 2"),
      ("objectFrom:withIndex:(a, 0) == 1", "a[0] == 1"),
      ("castObject:toType:(a, 'NSNumber') == 1", "CAST(a, \"Double\") == 1"),
      ("count(distinct(a.b)) > 1", "count:(distinct:(a.b)) > 1"),
      ("CAST(a, 'NSDate') < now()", "CAST(a, \"Date\") < now()"),
      ("a > CAST(600.5, \"NSDate\")", "a > CAST(600.5, \"Date\")"),
      ("TERNARY(a == 1, b, c) == 2", "TERNARY(a == 1, b, c) == 2"),
      ("SUBQUERY(a, $x, $x.b == 1 AND $x.c > 2).@count > 0", "SUBQUERY(a, $x, $x.b == 1 AND $x.c > 2).@count > 0"),
    ] as [(String, String)]
  )
  func reads(_ format: String, as expected: String) throws {
    let predicate = try FetchPredicate(format: format)
    #expect(predicate.description == expected)
    #expect(try FetchPredicate(format: expected) == predicate)
  }

  @Test(arguments: FetchFunction.allCases.filter { $0 != .negate })
  func knows(_ function: FetchFunction) throws {
    let arguments = Array(repeating: "a", count: function.argumentCount).joined(separator: ", ")
    let expected = FetchExpression.function(function, Array(repeating: .key("a"), count: function.argumentCount))
    #expect(try FetchExpression(format: "\(function.rawValue)(\(arguments))") == expected)
  }

  @Test func putsTermsOfOneKindIntoOneNode() throws {
    let terms = try (1...3).map { try FetchPredicate(format: "a == %d", $0) }
    #expect(try FetchPredicate(format: "a == 1 OR a == 2 OR a == 3") == .or(terms))
    let (either, both, neither) = (terms[0] || terms[1] || terms[2], terms[0] && terms[1], !terms[0])
    #expect(either == .or(terms))
    #expect(both == .and([terms[0], terms[1]]))
    #expect(neither == .not(terms[0]))
  }
}
