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
