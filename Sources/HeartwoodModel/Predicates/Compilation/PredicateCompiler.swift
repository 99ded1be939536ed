package import HeartwoodFoundation

/// Checks a predicate against an entity and makes a plan of it.
package struct PredicateCompiler {
  let model: ManagedObjectModel
  let entity: EntityDescription
  /// The value of `now()` for the whole fetch.
  let now: Date
  /// The group whose values the expression reads; nil for an expression over a single record.
  var groupScope: GroupScope?
  /// The current node, as the indexes of children from the root.
  private var path: [Int] = []
  /// The variables of the enclosing subqueries, the outermost first, and their kinds.
  var variables: [(name: String, kind: ExpressionKind)] = []

  /// A mistake at a node, before its place in a text is known.
  struct Fault: Error {
    let kind: FetchPredicateError.Kind
    let message: String
    var recovery: String?
    let path: [Int]
  }

  /// The limit for trees that were not read from text, which can have any height.
  private static let greatestHeight = 400

  init(_ entity: EntityDescription, _ model: ManagedObjectModel, now: Date) {
    self.entity = entity
    self.model = model
    self.now = now
  }
}

extension PredicateCompiler {
  /// Compiles `predicate` for objects of `entity`.
  ///
  /// - Throws: ``FetchPredicateError`` with the place of the mistake in the predicate as text.
  package static func compile(
    _ predicate: FetchPredicate,
    for entity: EntityDescription,
    in model: ManagedObjectModel,
    now: Date = Date()
  ) throws(FetchPredicateError) -> CompiledPredicate {
    var compiler = PredicateCompiler(entity, model, now: now)
    do throws(Fault) {
      return try compiler.compile(predicate)
    } catch {
      throw FetchPredicateError(error) { $0.write(predicate) }
    }
  }

  /// Compiles `expression` for objects of `entity`.
  ///
  /// - Throws: ``FetchPredicateError`` with the place of the mistake in the expression as text.
  package static func compile(
    _ expression: FetchExpression,
    for entity: EntityDescription,
    in model: ManagedObjectModel,
    now: Date = Date()
  ) throws(FetchPredicateError) -> CompiledExpression {
    var compiler = PredicateCompiler(entity, model, now: now)
    do throws(Fault) {
      return try compiler.compile(expression).plan
    } catch {
      throw FetchPredicateError(error) { $0.write(expression) }
    }
  }

  /// Compiles `expression`, whose values must have an order.
  static func compileOrdered(
    _ expression: FetchExpression,
    for entity: EntityDescription,
    in model: ManagedObjectModel
  ) throws(FetchPredicateError) -> CompiledExpression {
    var compiler = PredicateCompiler(entity, model, now: Date(timeIntervalSinceReferenceDate: 0))
    do throws(Fault) {
      let compiled = try compiler.compile(expression)
      if compiled.kind.isOrdered { return compiled.plan }
      throw compiler.fault(.typeMismatch, "This is \(compiled.kind.title), which has no order to sort by.")
    } catch {
      throw FetchPredicateError(error) { $0.write(expression) }
    }
  }
}

extension FetchPredicateError {
  init(_ fault: PredicateCompiler.Fault, _ write: (inout PredicatePrinter) -> Void) {
    var printer = PredicatePrinter(hidingValues: true, target: fault.path)
    // A tree that is too high to be compiled is also too high to be written.
    if fault.kind != .tooComplex { write(&printer) }
    let whole = 0..<printer.text.utf8.count
    self.init(fault.kind, fault.message, recovery: fault.recovery, in: printer.text, at: printer.place ?? whole)
  }
}

// MARK: Walking

extension PredicateCompiler {
  /// Visits a child of the current node.
  mutating func child<Result>(
    _ number: Int,
    _ body: (inout PredicateCompiler) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    path.append(number)
    defer { path.removeLast() }
    guard path.count <= Self.greatestHeight else { throw fault(.tooComplex, "The predicate is nested too deeply.") }
    return try body(&self)
  }

  func fault(
    _ kind: FetchPredicateError.Kind,
    _ message: String,
    recovery: String? = nil,
    at child: Int? = nil
  ) -> Fault {
    Fault(kind: kind, message: message, recovery: recovery, path: path + (child.map { [$0] } ?? []))
  }

  mutating func compile(_ predicate: FetchPredicate) throws(Fault) -> CompiledPredicate {
    switch predicate {
    case .literal(let flag): return .literal(flag)
    case .comparison(let comparison): return .comparison(try compile(comparison))
    case .not(let term): return .not(try child(0) { compiler throws(Fault) in try compiler.compile(term) })
    case .and(let terms): return .and(try compile(terms))
    case .or(let terms): return .or(try compile(terms))
    }
  }

  private mutating func compile(_ terms: [FetchPredicate]) throws(Fault) -> [CompiledPredicate] {
    var plans: [CompiledPredicate] = []
    for (number, term) in terms.enumerated() {
      plans.append(try child(number) { compiler throws(Fault) in try compiler.compile(term) })
    }
    return plans
  }
}

// MARK: Assignment

extension PredicateCompiler {
  /// Compiles `expression` for the value of an attribute of `type`.
  ///
  /// - Throws: ``FetchPredicateError`` with the place of the mistake in the expression as text.
  package static func compile(
    _ expression: FetchExpression,
    for type: AttributeType,
    of entity: EntityDescription,
    in model: ManagedObjectModel
  ) throws(FetchPredicateError) -> CompiledExpression {
    var compiler = PredicateCompiler(entity, model, now: Date())
    do throws(Fault) {
      let (plan, kind) = try compiler.compile(expression)
      if kind.element == nil, kind.goesWith(ExpressionKind(type)) { return plan }
      throw compiler.fault(.typeMismatch, "This is \(kind.title), and the attribute is of type \(type.rawValue).")
    } catch {
      throw FetchPredicateError(error) { $0.write(expression) }
    }
  }
}

// MARK: NameSuggestion

/// Suggests a name for one that is misspelled.
package enum NameSuggestion {
  private static let longest = 100
  private static let mostShown = 20

  /// Returns what to do about `name`, which is none of `names`.
  ///
  /// - Parameter beginning: the beginning of the sentence that lists the names if none is close.
  package static func advice(
    for name: String,
    among names: [String],
    listing beginning: String = "It has"
  ) -> String {
    if names.isEmpty { return "It has none." }
    if let suggestion = closest(to: name, among: names) { return "Did you mean \(suggestion)?" }
    return
      "\(beginning) \(names.prefix(mostShown).joined(separator: ", "))\(names.count > mostShown ? " and others" : "")."
  }

  /// Returns the name that is closest to `name`, if one is close enough to be a typing mistake.
  package static func closest(to name: String, among names: [String]) -> String? {
    let target = Array(name.lowercased())
    guard target.count <= longest else { return nil }
    let limit = max(1, (target.count + 1) / 3)
    let distances = names.lazy.filter { $0.utf8.count <= longest }.map {
      (name: $0, distance: distance(target, Array($0.lowercased())))
    }
    guard let best = distances.min(by: { $0.distance < $1.distance }), best.distance <= limit else { return nil }
    return best.name
  }

  /// Returns the number of characters to insert, remove or replace to make `left` of `right`.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var previous = Array(0...right.count)
    for (row, character) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        let replaced = previous[column] + (character == other ? 0 : 1)
        current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[right.count]
  }
}
