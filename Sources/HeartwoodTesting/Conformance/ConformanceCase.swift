public import Heartwood

/// A test of one behaviour that a store must have.
public struct ConformanceCase: Sendable {
  /// What the store must do, in words.
  public let name: String
  /// The type that is tested.
  public let storeType: StoreType
  /// The capabilities that the behaviour needs and a store may lack.
  public let requirements: [ConformanceRequirement]
  /// The requirement that the store has declared it does not meet; nil if it meets all. In this case the test checks
  /// that the store refuses it with the right error.
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

  /// Runs the test, with files in memory or in a separate folder, which is removed afterwards.
  ///
  /// - Throws: a failure with what was expected and what was found instead.
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

/// The failure of a conformance case: what was expected, and what was found instead.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// A message for people, with what was expected and what was found.
  public let message: String

  init(_ message: String) {
    self.message = message
  }

  /// The message.
  public var description: String { message }
}

// MARK: ConformanceReport

/// The outcomes of all behaviours that the conformance kit tests on a store.
///
///     print(StoreConformance(JSONLinesStore.self, …).report())
public struct ConformanceReport: Sendable {
  /// The outcome of one behaviour.
  public enum Outcome: Sendable {
    /// The store has the behaviour.
    case implemented
    /// The store has declared that it lacks a requirement of the behaviour, and refuses it with the right error.
    case declined(ConformanceRequirement)
    /// The store does not have the behaviour, or does not refuse what it has declared to lack.
    case failed(ConformanceFailure)
  }

  /// A behaviour and its outcome.
  public struct Entry: Sendable {
    /// What the store must do, in words.
    public let name: String
    /// The outcome of the behaviour.
    public let outcome: Outcome
  }

  /// The type that was tested.
  public let storeType: StoreType
  /// Every behaviour, in the order of the kit.
  public let entries: [Entry]

  /// The names of the behaviours that the store has.
  public var implemented: [String] {
    entries.compactMap { if case .implemented = $0.outcome { $0.name } else { nil } }
  }

  /// The behaviours that the store has declined, with the requirement that it lacks.
  public var declined: [(name: String, reason: ConformanceRequirement)] {
    entries.compactMap { if case .declined(let reason) = $0.outcome { ($0.name, reason) } else { nil } }
  }

  /// The behaviours that the store has failed, with what was expected and what was found.
  public var failed: [(name: String, failure: ConformanceFailure)] {
    entries.compactMap { if case .failed(let failure) = $0.outcome { ($0.name, failure) } else { nil } }
  }
}

extension StoreConformance {
  /// Tests every behaviour, and returns the outcomes. It takes seconds.
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
  /// A line with the counts, and a line for each behaviour that was declined or failed.
  public var description: String {
    let summary =
      "\(storeType): \(implemented.count) implemented, \(declined.count) declined, \(failed.count) failed"
    let lines =
      declined.map { "  declined: \($0.name), which needs \($0.reason)" }
      + failed.map { "  failed: \($0.failure)" }
    return ([summary] + lines).joined(separator: "\n")
  }
}
