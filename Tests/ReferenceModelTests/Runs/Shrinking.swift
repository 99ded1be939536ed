/// Finds a short sequence of operations that fails, in one that does.
struct Shrinking {
  /// After so many tries the shortest sequence that was found is short enough.
  private static let mostTries = 4000

  /// A sequence that fails.
  struct Failure {
    let operations: [Operation]
    /// What came of the operations but the last.
    let outcomes: [Outcome]
    let mismatch: String
  }

  private let plan: RunPlan

  init(_ plan: RunPlan) {
    self.plan = plan
  }

  /// Leaves out as many operations as can be left out while the rest fails in the same way.
  ///
  /// - Returns: the rest; nil where the sequence does not fail when everything is compared after every step.
  func shorten(_ operations: [Operation]) -> Failure? {
    guard var shortest = failure(of: operations) else { return nil }
    var tries = 0
    var length = shortest.operations.count / 2
    while length > 0, tries < Self.mostTries {
      var start = 0
      var hasShrunk = false
      while start < shortest.operations.count, tries < Self.mostTries {
        tries += 1
        var rest = shortest.operations
        rest.removeSubrange(start..<min(start + length, rest.count))
        if let shorter = failure(of: rest), isSame(shorter.mismatch, shortest.mismatch) {
          shortest = shorter
          hasShrunk = true
        } else {
          start += length
        }
      }
      if length > 1 || !hasShrunk { length /= 2 }
    }
    return shortest
  }

  /// Whether two descriptions say the same of different objects.
  private func isSame(_ mismatch: String, _ other: String) -> Bool {
    func words(_ text: String) -> String { text.replacing(/[0-9A-F-]{36}/, with: "").filter(\.isLetter) }
    return words(mismatch) == words(other)
  }

  /// The operations up to the one that fails, without those that were not possible.
  private func failure(of operations: [Operation]) -> Failure? {
    var done: [Operation] = []
    var outcomes: [Outcome] = []
    do {
      let session = try Session(plan, stepsBetweenComparisons: 1)
      for operation in operations where session.reference.allows(operation) {
        done.append(operation)
        if let outcome = try session.perform(operation) { outcomes.append(outcome) }
      }
      return nil
    } catch {
      return Failure(operations: done, outcomes: outcomes, mismatch: "\(error)")
    }
  }
}

extension Shrinking.Failure: CustomStringConvertible {
  var description: String {
    let lines = operations.enumerated().map { index, operation in
      let outcome = index < outcomes.count && outcomes[index] != .done ? " -> \(outcomes[index])" : ""
      return "  \(operation)\(outcome)"
    }
    return """
      The shortest way there found: \(operations.count) operations, then \(mismatch)
      \(lines.joined(separator: "\n"))
      """
  }
}
