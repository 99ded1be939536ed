import HeartwoodGraph

/// The reference and the graph under test, side by side.
final class Session {
  let reference: ReferenceGraph
  private let subject: GraphUnderTest
  private let comparison: Comparison
  private var stepCount = 0
  /// How many steps pass between two comparisons of all that is in memory.
  private let stepsBetweenComparisons: Int
  private let forgets: Bool

  init(_ plan: RunPlan, stepsBetweenComparisons: Int) throws {
    reference = ReferenceGraph(plan)
    subject = try GraphUnderTest(plan)
    comparison = Comparison(reference: reference, subject: subject)
    self.stepsBetweenComparisons = stepsBetweenComparisons
    forgets = plan.forgets
  }

  /// Does the same on both sides, and compares what came of it. What is not possible at the moment is left out.
  ///
  /// - Returns: what came of it; nil where it was left out.
  /// - Throws: ``Mismatch``, or an error of the graph that should not be.
  @discardableResult
  func perform(_ operation: Operation) throws -> Outcome? {
    let outcome = try performAlone(operation)
    guard case .save(let context, thenParents: true) = operation, outcome == .done,
      let parent = reference.parents[context]
    else { return outcome }
    // What the graph has read in one save is learned before the next changes what would be read.
    return try perform(.save(parent, thenParents: true)) ?? outcome
  }

  private func performAlone(_ operation: Operation) throws -> Outcome? {
    guard reference.allows(operation) else { return nil }
    stepCount += 1
    let heldKeys = subject.held.map { Set($0.keys) }
    if forgets, stepCount.isMultiple(of: 3) { subject.forgetRecords() }
    let outcome = try subject.perform(operation)
    if case .fileFault(let isReplaced) = outcome {
      if case .saveWithFault(_, let context) = operation {
        reference.noteFailedSave(of: context, isReplaced: isReplaced)
      }
    } else {
      let expected = reference.perform(operation)
      guard outcome.agrees(with: expected) else {
        throw Mismatch("it came to \(outcome), and should have to \(expected)")
      }
    }
    try subject.holdRegisteredObjects()
    releaseWhatNobodyHolds(heldBefore: heldKeys, operation)
    try learnWhatWasRead()
    try compare(after: operation)
    return outcome
  }

  private func compare(after operation: Operation) throws {
    try comparison.compareContexts()
    try comparison.compareRelationships()
    if let (key, context) = operation.subject { try comparison.compareObject(key, context) }
    if stepCount.isMultiple(of: stepsBetweenComparisons) { try comparison.compareObjects() }
    switch operation {
    case .readAll: try comparison.compareObjects()
    case .inspect: try comparison.compareFile()
    case .release(let key, let context): try compareRelease(of: key, context)
    default: break
    }
  }

  /// A context does not keep an object that has no changes and that nobody holds.
  private func compareRelease(of key: Key, _ context: Int) throws(Mismatch) {
    let isExpected = reference.contexts[context].objects[key]?.isLost == false
    try require(subject.isRegistered(key, context), equals: isExpected, "whether #\(key) is registered in \(context)")
  }

  /// When a fault reads its values is, but for the objects that an operation is about, left to the graph. From then on it
  /// keeps them.
  private func learnWhatWasRead() throws {
    for (index, context) in reference.contexts.enumerated() {
      try learnWhatBecameOfUnsavedRecords(index)
      for (key, object) in subject.held[index] where !object.isFault && context.objects[key] == nil {
        if context.source.record(key) != nil {
          context.read(key)
        } else {
          try require(object.isDeleted, equals: true, "isDeleted of #\(key), whose record is gone, in \(index)")
          subject.release(key, index)
        }
      }
    }
  }

  /// What a save was the first to change, as parents take what children save and merge policies let objects lead back, is held by
  /// nobody once it is saved.
  private func releaseWhatNobodyHolds(heldBefore: [Set<Key>], _ operation: Operation) {
    guard operation.isSave else { return }
    for (index, context) in reference.contexts.enumerated() {
      for key in context.objects.keys where subject.held[index][key] == nil && !heldBefore[index].contains(key) {
        context.release(key)
      }
    }
  }

  /// Objects whose records are in no row of the store, since only a parent has them or the context has gone back to a version before
  /// them, keep what they have read only as long as the records are where they were.
  private func learnWhatBecameOfUnsavedRecords(_ index: Int) throws {
    let context = reference.contexts[index]
    var found: [Key] = []
    for (key, object) in context.objects where !object.isInserted {
      let isLater = context.isLater(key)
      guard object.base?.isUnsaved == true || isLater || object.isLost else { continue }
      guard let actual = subject.held[index][key] else { continue }
      subject.lookUp(key, index)
      if context.source.record(key) == nil {
        if isLater { try require(actual.isDeleted, equals: true, "isDeleted of #\(key), which is later, in \(index)") }
        if isLater || actual.isDeleted != object.isDeleted { context.lose(key) }
      } else {
        if context.find(key) { found.append(key) }
        guard object.base?.isUnsaved == true else { continue }
        if try subject.committedValues(actual) != object.base?.values { context.readAnew(key) }
        context.noteSaved(key)
      }
    }
    found.sorted().forEach(context.dropRefused)
  }
}
