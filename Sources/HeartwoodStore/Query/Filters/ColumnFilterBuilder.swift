import HeartwoodFoundation
import HeartwoodModel

/// Finds the fastest form in which a plan can be tested on the columns of one table.
struct ColumnFilterBuilder {
  let tables: QueryTables
  let table: NodeTable

  func test(_ plan: CompiledPredicate) -> ColumnFilter {
    switch plan {
    case .literal(let flag): return .literal(flag)
    case .not(let term): return .negated(test(term))
    case .and(let terms): return .all(terms.map(test))
    case .or(let terms): return .any(terms.map(test))
    case .comparison(let comparison): return test(comparison) ?? .general(plan)
    }
  }

  private func test(_ comparison: CompiledComparison) -> ColumnFilter? {
    if let test = relatedTest(comparison) ?? membershipTest(comparison) { return test }
    guard comparison.modifier == .direct else { return nil }
    if comparison.comparator == .notEqualTo {
      return test(comparison.replacing(comparator: .equalTo)).map(ColumnFilter.negated)
    }
    if let constant = comparison.right.constant { return test(comparison, constant) }
    // `5 < age` is tested as `age > 5`.
    if let mirrored = comparison.mirrored, let constant = mirrored.right.constant {
      return relatedTest(mirrored) ?? test(mirrored, constant)
    }
    return nil
  }

  private func test(_ comparison: CompiledComparison, _ constant: EvaluatedValue) -> ColumnFilter? {
    if case .subject = comparison.left { return subject(comparison.comparator, constant) }
    if case .collection(.count, let operand) = comparison.left, let property = operand.ownProperty, property.isToMany {
      return integers(comparison.comparator, constant).map { .count(property.ordinal, $0) }
    }
    guard let property = comparison.left.ownProperty, !property.isToMany else { return nil }
    if comparison.comparator == .equalTo, constant == .null { return .isNull(property.ordinal) }
    guard let type = property.attributeType else { return reference(property, comparison.comparator, constant) }
    switch type {
    case .integer16, .integer32, .integer64: return integers(property.ordinal, comparison.comparator, constant)
    case .double, .float, .date: return doubles(property.ordinal, comparison.comparator, constant)
    case .boolean: return boolean(property.ordinal, comparison, constant)
    case .string: return text(property.ordinal, comparison, constant)
    case .uuid: return uuids(property.ordinal, comparison.comparator, constant)
    case .decimal: return decimals(property.ordinal, comparison.comparator, constant)
    case .binary, .transformable: return data(property.ordinal, comparison.comparator, constant)
    case .uri, .undefined: return nil
    }
  }
}

// MARK: Numbers

extension ColumnFilterBuilder {
  private func integers(_ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue) -> NumberRange.Integers? {
    if comparator == .between, case .many(let bounds) = constant, bounds.count == 2 {
      guard let lower = integers(.greaterThanOrEqualTo, bounds[0]), let upper = integers(.lessThanOrEqualTo, bounds[1])
      else { return nil }
      return lower.intersection(upper)
    }
    // No value is less or greater than nil.
    if constant == .null { return comparator == .equalTo ? nil : NumberRange.Integers.none }
    return NumericValue(constant.scalar).flatMap { NumberRange.Integers(comparator, $0) }
  }

  private func integers(_ ordinal: Int, _ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue)
    -> ColumnFilter?
  {
    guard comparator == .in else {
      return integers(comparator, constant).map { $0.isEmpty ? .literal(false) : .integers(ordinal, $0) }
    }
    guard case .many(let elements) = constant else { return nil }
    var numbers: Set<Int64> = []
    for element in elements where element != .null {
      guard let number = NumericValue(element.scalar) else { return nil }
      // A number that is not an integer equals none.
      if let exact = number.exactInteger { numbers.insert(exact) }
    }
    return withNull(ordinal, elements, numbers.isEmpty ? .literal(false) : .integerSet(ordinal, numbers))
  }

  /// Returns the test, combined with a test for no value if one of `elements` is nil.
  private func withNull(_ ordinal: Int, _ elements: [EvaluatedValue], _ test: ColumnFilter) -> ColumnFilter {
    elements.contains(.null) ? .any([.isNull(ordinal), test]) : test
  }

  private func doubles(_ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue) -> NumberRange.Doubles? {
    if comparator == .between, case .many(let bounds) = constant, bounds.count == 2 {
      guard let lower = doubles(.greaterThanOrEqualTo, bounds[0]), let upper = doubles(.lessThanOrEqualTo, bounds[1])
      else { return nil }
      return lower.intersection(upper)
    }
    if constant == .null { return NumberRange.Doubles.none }
    if case .date(let date) = constant.scalar {
      return NumberRange.Doubles(comparator, .double(date.timeIntervalSinceReferenceDate))
    }
    return NumericValue(constant.scalar).flatMap { NumberRange.Doubles(comparator, $0) }
  }

  private func doubles(_ ordinal: Int, _ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue)
    -> ColumnFilter?
  {
    guard comparator == .in else { return doubles(comparator, constant).map { .doubles(ordinal, $0) } }
    guard case .many(let elements) = constant, elements.count <= Self.fewElements else { return nil }
    var ranges: [ColumnFilter] = []
    for element in elements where element != .null {
      guard let range = doubles(.equalTo, element) else { return nil }
      ranges.append(.doubles(ordinal, range))
    }
    return withNull(ordinal, elements, .any(ranges))
  }

  /// Up to this many values are compared one after the other.
  private static let fewElements = 64

  private func decimals(_ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue) -> DecimalRange? {
    if comparator == .between, case .many(let bounds) = constant, bounds.count == 2 {
      guard let lower = decimals(.greaterThanOrEqualTo, bounds[0]), let upper = decimals(.lessThanOrEqualTo, bounds[1])
      else { return nil }
      return lower.intersection(upper)
    }
    // A NaN and nil can only be compared for equality, for which there is the general form.
    guard let number = NumericValue(constant.scalar), !number.isNaN else { return nil }
    return DecimalRange(comparator, number)
  }

  private func decimals(_ ordinal: Int, _ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue)
    -> ColumnFilter?
  {
    guard comparator == .in else { return decimals(comparator, constant).map { .decimals(ordinal, $0) } }
    guard case .many(let elements) = constant, elements.count <= Self.fewElements else { return nil }
    var ranges: [ColumnFilter] = []
    for element in elements where element != .null {
      guard let range = decimals(.equalTo, element) else { return nil }
      ranges.append(.decimals(ordinal, range))
    }
    return withNull(ordinal, elements, .any(ranges))
  }

  /// Returns the result of the comparison for each value of a boolean.
  private func boolean(_ ordinal: Int, _ comparison: CompiledComparison, _ constant: EvaluatedValue) -> ColumnFilter? {
    let meaning = ScalarComparison(comparison.options)
    func holds(_ value: PropertyValue) -> Bool {
      meaning.holds(.one(value), comparison.comparator, constant, pattern: nil)
    }
    let test = ColumnFilter.boolean(ordinal, whenTrue: holds(.boolean(true)), whenFalse: holds(.boolean(false)))
    return holds(.null) ? .any([.isNull(ordinal), test]) : test
  }
}

// MARK: Other values

extension ColumnFilterBuilder {
  private func text(_ ordinal: Int, _ comparison: CompiledComparison, _ constant: EvaluatedValue) -> ColumnFilter? {
    let folding = TextFolding(comparison.options)
    if case .many(let elements) = constant {
      guard comparison.comparator == .in else { return nil }
      return textSet(ordinal, elements, folding)
    }
    guard case .string(let string) = constant.scalar else {
      // Strings can be compared with nil only for equality, which has been handled above.
      return constant == .null ? .literal(false) : nil
    }
    guard let condition = condition(comparison) else { return nil }
    return .text(ordinal, TextFilter(condition, folding.folded(string), folding: folding))
  }

  private func condition(_ comparison: CompiledComparison) -> TextFilter.Condition? {
    let isLocaleSensitive = comparison.options.contains(.localeSensitive)
    switch comparison.comparator {
    case .contains: return .contains
    case .beginsWith: return .beginsWith
    case .endsWith: return .endsWith
    case .equalTo: return .equals
    case .lessThan: return isLocaleSensitive ? nil : .order(before: true, same: false, behind: false)
    case .lessThanOrEqualTo: return isLocaleSensitive ? nil : .order(before: true, same: true, behind: false)
    case .greaterThan: return isLocaleSensitive ? nil : .order(before: false, same: false, behind: true)
    case .greaterThanOrEqualTo: return isLocaleSensitive ? nil : .order(before: false, same: true, behind: true)
    case .like:
      if let pattern = comparison.pattern?.wildcards { return .wildcards(pattern) }
      return nil
    case .matches, .in, .between, .notEqualTo: return nil
    }
  }

  private func textSet(_ ordinal: Int, _ elements: [EvaluatedValue], _ folding: TextFolding) -> ColumnFilter? {
    var strings: Set<[UInt8]> = []
    for element in elements where element != .null {
      guard case .string(let string) = element.scalar else { return nil }
      strings.insert(folding.folded(string))
    }
    return withNull(ordinal, elements, .text(ordinal, TextFilter(.isIn(strings), [], folding: folding)))
  }

  private func data(_ ordinal: Int, _ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue)
    -> ColumnFilter?
  {
    guard let elements = Self.candidates(comparator, constant) else { return nil }
    var values: Set<[UInt8]> = []
    for element in elements where element != .null {
      guard case .binary(let data) = element.scalar else { return nil }
      values.insert(Array(data))
    }
    return withNull(ordinal, elements, .text(ordinal, TextFilter(.isIn(values), [], folding: TextFolding([]))))
  }

  /// Returns a test that a to-many relationship refers to one of the given objects, or to some, all or none of them.
  private func membershipTest(_ comparison: CompiledComparison) -> ColumnFilter? {
    guard comparison.modifier != .direct, let property = comparison.left.ownProperty, property.isToMany,
      let constant = comparison.right.constant
    else { return nil }
    let isNegated = comparison.comparator == .notEqualTo
    guard let elements = Self.candidates(isNegated ? .equalTo : comparison.comparator, constant),
      let ids = Self.objectIDs(elements)
    else { return nil }
    return .related(
      property.ordinal,
      RelatedFilter(
        quantifier: comparison.modifier.quantifier,
        references: ReferenceFilter(ids, in: tables).references,
        passesIfContained: !isNegated
      )
    )
  }

  private func uuids(_ ordinal: Int, _ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue)
    -> ColumnFilter?
  {
    guard let elements = Self.candidates(comparator, constant) else { return nil }
    var uuids: Set<ReferenceID> = []
    for element in elements where element != .null {
      guard case .uuid(let uuid) = element.scalar else { return nil }
      uuids.insert(.uuid(uuid))
    }
    return withNull(ordinal, elements, .uuids(ordinal, uuids))
  }

  private func reference(
    _ property: CompiledProperty,
    _ comparator: FetchComparison.Comparator,
    _ constant: EvaluatedValue
  ) -> ColumnFilter? {
    guard let elements = Self.candidates(comparator, constant), let ids = Self.objectIDs(elements) else { return nil }
    return withNull(property.ordinal, elements, .reference(property.ordinal, ReferenceFilter(ids, in: tables)))
  }

  /// Returns a test that the tested object is one of the given ones.
  private func subject(_ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue) -> ColumnFilter? {
    guard let elements = Self.candidates(comparator, constant), let ids = Self.objectIDs(elements) else { return nil }
    let subjects = ids.filter { $0.entity.name == table.entity.name }.compactMap { tables.subject($0) }
    return subjects.isEmpty ? .literal(false) : .rows(Set(subjects.map(\.row)))
  }

  /// Returns the values of which one has to be equal.
  private static func candidates(_ comparator: FetchComparison.Comparator, _ constant: EvaluatedValue)
    -> [EvaluatedValue]?
  {
    switch (comparator, constant) {
    case (.equalTo, .one): [constant]
    case (.in, .many(let elements)): elements
    default: nil
    }
  }

  private static func objectIDs(_ elements: [EvaluatedValue]) -> [ManagedObjectID]? {
    var ids: [ManagedObjectID] = []
    for element in elements where element != .null {
      guard case .toOne(let id) = element.scalar else { return nil }
      ids.append(id)
    }
    return ids
  }
}
