import HeartwoodTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A random sequence of operations that follows from a seed.
struct Run {
  /// How many steps pass between two comparisons of all that is in memory.
  private static let stepsBetweenComparisons = 20

  let schema: Schema
  let seed: UInt64
  let stepCount: Int
  /// Whether each operation is printed before it is done, for runs that end the process.
  var isTraced = false

  /// Runs until the end or the first mismatch, which is then brought about by as few operations as can be found.
  ///
  /// - Returns: a description of what is wrong, or nil.
  func failure() throws -> String? {
    let plan = RunPlan(schema, seed: seed)
    var operations: [Operation] = []
    do {
      try generate(plan) { operations.append($0) }
      return nil
    } catch {
      // Printed before the search for a shorter one, which takes long.
      print("Reference model \(schema.name): seed \(seed), after \(operations.count) operations, \(error)")
      let shortest = Shrinking(plan).shorten(operations)
      return """
        seed \(seed), model \(schema.name), \(plan): after \(operations.count) operations, \(error)
        \(shortest.map { "\($0)" } ?? "It is found only when all is compared as seldom as in the run.")
        """
    }
  }

  private func generate(_ plan: RunPlan, _ note: (Operation) -> Void) throws {
    let session = try Session(plan, stepsBetweenComparisons: Self.stepsBetweenComparisons)
    var generator = OperationGenerator(seed: seed)
    for _ in 0..<stepCount {
      let operation = generator.next(session.reference)
      note(operation)
      trace("\(operation)")
      let outcome = try session.perform(operation)
      trace("  \(outcome.map { "\($0)" } ?? "left out")")
      generator.learn(outcome, of: operation, session.reference)
    }
    for operation in Self.lastOperations(plan) {
      note(operation)
      try session.perform(operation)
    }
  }

  private static func lastOperations(_ plan: RunPlan) -> [Operation] {
    plan.parents.indices.map(Operation.readAll) + [.inspect, .reopen, .readAll(0)]
  }

  private func trace(_ line: @autoclosure () -> String) {
    guard isTraced else { return }
    print(line())
    fflush(nil)
  }
}
