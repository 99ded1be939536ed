public import Heartwood

/// One behaviour that a store must have, ready to be tried.
public struct ConformanceCase: Sendable {
  /// What the store must do, in words.
  public let name: String
  /// The type that is tested.
  public let storeType: StoreType
  /// What the behaviour needs that a store may lack.
  public let requirements: [ConformanceRequirement]
  /// The requirement that the store has declared it does not meet. Then the case is that it says so with the right error.
  public let missing: ConformanceRequirement?
  private let body: @Sendable () throws -> Void

  init(
    name: String,
    storeType: StoreType,
    requirements: [ConformanceRequirement],
    missing: ConformanceRequirement?,
    body: @escaping @Sendable () throws -> Void
  ) {
    self.name = name
    self.storeType = storeType
    self.requirements = requirements
    self.missing = missing
    self.body = body
  }

  /// Tries it, on files that are in memory or in a folder of their own, which is gone afterwards.
  ///
  /// - Throws: what was expected and what was found instead.
  public func run() throws(ConformanceFailure) {
    do {
      try body()
    } catch let failure as ConformanceFailure {
      throw ConformanceFailure("\(self): \(failure.message)")
    } catch {
      throw ConformanceFailure("\(self): expected no error, found \(error)")
    }
  }
}

extension ConformanceCase: CustomStringConvertible {
  /// The type of the store and the name of the case.
  public var description: String {
    missing.map { "\(storeType): \(name) (declined: \($0))" } ?? "\(storeType): \(name)"
  }
}

// MARK: ConformanceFailure

/// How a store fails a conformance case: what was expected, and what was found instead.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// The whole story, for a person.
  public let message: String

  init(_ message: String) {
    self.message = message
  }

  /// The message.
  public var description: String { message }
}

// MARK: ConformanceReport

/// What became of every behaviour that the kit tries on a store.
///
///     print(StoreConformance(JSONLinesStore.self, …).report())
public struct ConformanceReport: Sendable {
  /// What became of one behaviour.
  public enum Outcome: Sendable {
    /// The store does what it must.
    case implemented
    /// The store has declared that it lacks what the behaviour needs, and refuses it with the right error.
    case declined(ConformanceRequirement)
    /// The store does something else, or does not refuse what it lacks.
    case failed(ConformanceFailure)
  }

  /// One behaviour.
  public struct Entry: Sendable {
    /// What the store must do, in words.
    public let name: String
    /// What became of it.
    public let outcome: Outcome
  }

  /// The type that was tested.
  public let storeType: StoreType
  /// Every behaviour, in the order of the kit.
  public let entries: [Entry]

  /// The names of what the store does.
  public var implemented: [String] {
    entries.compactMap { if case .implemented = $0.outcome { $0.name } else { nil } }
  }

  /// What the store has declined, with what it lacks for it.
  public var declined: [(name: String, reason: ConformanceRequirement)] {
    entries.compactMap { if case .declined(let reason) = $0.outcome { ($0.name, reason) } else { nil } }
  }

  /// What the store has failed, with what was expected and what was found.
  public var failed: [(name: String, failure: ConformanceFailure)] {
    entries.compactMap { if case .failed(let failure) = $0.outcome { ($0.name, failure) } else { nil } }
  }
}

extension StoreConformance {
  /// Tries every behaviour, and reports what became of it. It takes seconds.
  public func report() -> ConformanceReport {
    let entries = cases.map { testCase in
      do throws(ConformanceFailure) {
        try testCase.run()
        let outcome = testCase.missing.map(ConformanceReport.Outcome.declined) ?? .implemented
        return ConformanceReport.Entry(name: testCase.name, outcome: outcome)
      } catch {
        return ConformanceReport.Entry(name: testCase.name, outcome: .failed(error))
      }
    }
    return ConformanceReport(storeType: type, entries: entries)
  }
}

extension ConformanceReport: CustomStringConvertible {
  /// A line with the numbers, and one for each behaviour that was declined or failed.
  public var description: String {
    let summary =
      "\(storeType): \(implemented.count) implemented, \(declined.count) declined, \(failed.count) failed"
    let lines =
      declined.map { "  declined: \($0.name), which needs \($0.reason)" }
      + failed.map { "  failed: \($0.failure)" }
    return ([summary] + lines).joined(separator: "\n")
  }
}
