/// How a fetch finds its objects: what is tested in which order, how it is sorted, and where an index is used.
///
/// It is for people: print it. Its words may change with any version of the library.
public struct QueryPlan: Sendable, Hashable {
  /// What is done with the records of one entity in one store.
  public struct Step: Sendable, Hashable {
    /// The name of the entity; subentities have steps of their own.
    public var entityName: String
    /// How many records there are.
    public var recordCount: Int
    /// The name of the index that finds the candidates; nil where all records are looked at.
    public var indexName: String?
    /// How many records are looked at.
    public var candidateCount: Int
    /// What is tested, the cheapest first. Without the values: they may be private.
    public var tests: [String]
    /// How the results are put in order; nil where they are not.
    public var order: String?
    /// Whether the store does not find the records itself, so that all are read from it first.
    public var readsAll = false
    /// How a store that finds the records itself does it, in its own language, a line each; none where the framework finds them. What
    /// ``tests`` and ``order`` tell besides is done in memory, with the records that the store finds.
    public var storeLines: [String]

    init(entityName: String, recordCount: Int) {
      self.entityName = entityName
      self.recordCount = recordCount
      self.candidateCount = recordCount
      self.tests = []
      self.storeLines = []
    }
  }

  /// What is done, entity by entity and store by store.
  public var steps: [Step]

  package init(steps: [Step]) {
    self.steps = steps
  }
}

extension QueryPlan: CustomStringConvertible {
  /// A few lines for each step.
  public var description: String { steps.map(\.description).joined(separator: "\n") }
}

extension QueryPlan.Step: CustomStringConvertible {
  /// A line on what is looked at, one on each test, one on the order.
  public var description: String {
    if !storeLines.isEmpty {
      let rest = tests.map { "then test in memory: \($0)" } + (order.map { ["then sort in memory: by \($0)"] } ?? [])
      return (["\(entityName): found by the store"] + (storeLines + rest).map { "  " + $0 }).joined(separator: "\n")
    }
    let access = indexName.map { "\(candidateCount) of \(recordCount) records by the index \($0)" }
    let all = "all \(recordCount) records" + (readsAll ? ", read from the store and tested in memory" : "")
    let lines = tests.map { "test \($0)" } + (order.map { ["sort by \($0)"] } ?? [])
    return (["\(entityName): \(access ?? all)"] + lines.map { "  " + $0 })
      .joined(separator: "\n")
  }
}
