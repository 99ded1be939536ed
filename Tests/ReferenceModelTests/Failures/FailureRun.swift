import Heartwood
import Testing

@testable import HeartwoodTesting

/// One sequence of random operations on two graphs, the reads and writes of one of which fail at random.
///
/// What fails is tried again without failures, so that both go on alike: what a save has put off it makes good then.
struct FailureRun {
  private let seed: UInt64
  private let isTraced: Bool
  private var generator: SeededGenerator
  private let calm: FailingGraph
  private let shaken: FailingGraph
  private var nodeCount = 0
  private var step = 0
  private var failureCount = 0

  init(seed: UInt64, isTraced: Bool) throws {
    self.seed = seed
    self.isTraced = isTraced
    generator = SeededGenerator(seed: seed)
    (calm, shaken) = (try FailingGraph(), try FailingGraph())
  }

  mutating func run(stepCount: Int) throws {
    for number in 1...stepCount {
      step = number
      try perform(try nextOperation())
      for graph in [calm, shaken] {
        try check(graph.context.relationshipDisagreements.isEmpty, "\(graph.context.relationshipDisagreements)")
      }
    }
    try save()
    #expect(failureCount > stepCount / 20, "hardly anything has failed: seed \(seed)")
  }

  // MARK: What is done

  /// Does something on both, and sees to it that both are alike afterwards.
  private mutating func perform(_ operation: FailureOperation) throws {
    if isTraced { print("\(step): \(operation)") }
    if case .save = operation { return try save() }
    let (outcome, expected) = (shake { try operation.perform(on: $0) }, Result { try operation.perform(on: calm) })
    switch outcome {
    case .told(let found):
      try check(found == (try expected.get()), "\(operation): expected \(expected), found \(found)")
    case .noted:
      // What was put off is made good by a save.
      if operation.changes { try save() }
    case .failed:
      // It has changed nothing, or nothing that is not done again.
      let again = try operation.perform(on: shaken)
      if !operation.changes {
        try check(again == (try expected.get()), "\(operation), again: expected \(expected), found \(again)")
      } else {
        try save()
      }
    }
  }

  private mutating func save() throws {
    let expected = Result { try calm.context.save() }
    let outcome = shake { try $0.context.save() }
    // A save that has failed is done again.
    let again = Result { try shaken.context.save() }
    switch (expected, again) {
    case (.success, .success): break
    case (.failure(let error as PersistenceError), .failure(let other as PersistenceError)):
      try check(error.code == other.code, "expected the save to fail with \(error), found \(other)")
      for graph in [calm, shaken] { graph.context.rollback() }
    default: try check(false, "expected \(expected) of a save, found \(outcome) and then \(again)")
    }
    let (found, wanted) = (try shaken.saved(), try calm.saved())
    try check(found == wanted, "expected \(wanted) to be saved, found \(found)")
    if generator.chance(oneIn: 2) { for graph in [calm, shaken] { try graph.reopen() } }
  }

  // MARK: What fails

  private enum Outcome<Value> {
    case told(Value)
    case noted
    case failed(any Error)
  }

  /// Does something while reads and writes may fail.
  private mutating func shake<Value>(_ body: (FailingGraph) throws -> Value) -> Outcome<Value> {
    if !generator.chance(oneIn: 3) {
      let first = Int.random(in: 1...4, using: &generator)
      shaken.faults.begin(failing: generator.chance(oneIn: 2) ? first...first : first...Int.max)
      if generator.chance(oneIn: 4) { shaken.interruption.stop(at: shaken.interruption.step + first) }
    }
    let result = Result { try body(shaken) }
    shaken.endFailing()
    let isNoted = !shaken.context.takeReadFailures().isEmpty
    switch result {
    case .success(let value) where !isNoted: return .told(value)
    case .success:
      failureCount += 1
      return .noted
    case .failure(let error):
      failureCount += 1
      return .failed(error)
    }
  }

  private func check(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if condition { return }
    throw Mismatch("seed \(seed), step \(step): \(message())")
  }

  // MARK: What comes next

  private mutating func nextOperation() throws -> FailureOperation {
    let names = try calm.names()
    if names.count < 4 || generator.chance(oneIn: 6) {
      nodeCount += 1
      return .insert("n\(nodeCount)", parent: names.randomElement(using: &generator))
    }
    func some() -> String { names.randomElement(using: &generator) ?? "" }
    func few() -> [String] { (0..<Int.random(in: 0...3, using: &generator)).map { _ in some() } }
    switch Int.random(in: 0..<14, using: &generator) {
    case 0: return .setParent(some(), some())
    case 1: return .setChildren(some(), few())
    case 2: return .setPeers(some(), few())
    case 3: return .addPeer(some(), some())
    case 4: return .setByName(some(), few())
    case 5: return .setGuard(some(), some())
    case 6: return .delete(some())
    case 7: return .refresh
    case 8: return .read(some())
    case 9, 10: return .readThrowing(some())
    case 11: return .find(some())
    default: return .save
    }
  }
}
