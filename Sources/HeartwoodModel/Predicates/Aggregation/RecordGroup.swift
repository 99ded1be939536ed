/// Records that have the same values of some expressions, and what is known of them.
package struct RecordGroup: Sendable {
  /// The values that the records have in common.
  package let keys: [PropertyValue]
  package var accumulators: [Accumulator]

  package init(keys: [PropertyValue], accumulators: [Accumulator]) {
    self.keys = keys
    self.accumulators = accumulators
  }

  /// What an expression over the group reads.
  package var values: GroupValues { GroupValues(keys + accumulators.map(\.result)) }

  /// The values of expressions over the group. Those that only name a key or an aggregate are read as they are.
  package func values(of plans: [PlanExpression]) -> [PropertyValue] {
    var values: GroupValues?
    return plans.map { plan in
      if case .variable(let place) = plan {
        return place < keys.count ? keys[place] : accumulators[place - keys.count].result
      }
      let all = values ?? self.values
      values = all
      return all.value(plan)
    }
  }
}

/// Groups to which more records come, in the order in which the groups were met first.
package struct RecordGroups {
  package private(set) var groups: [RecordGroup]
  private let grouping: SelectionPlan.Grouping
  /// Where the group of some keys is; made when it is needed.
  private var places: [[PropertyValue]: Int]?

  /// - Parameter groups: of which no two have the same keys.
  package init(_ groups: [RecordGroup] = [], by grouping: SelectionPlan.Grouping) {
    self.groups = groups
    self.grouping = grouping
  }

  /// Adds groups of other records.
  package mutating func merge(_ others: [RecordGroup]) {
    if groups.isEmpty, places == nil {
      groups = others
      return
    }
    for other in others {
      let place = place(of: other.keys)
      for index in other.accumulators.indices { groups[place].accumulators[index].merge(other.accumulators[index]) }
    }
  }

  /// Adds one record.
  package mutating func add<Source>(_ subject: Source.Subject, _ evaluator: PredicateEvaluator<Source>) {
    let place = place(of: grouping.keys.map { evaluator.value($0, subject).scalar })
    for (index, aggregate) in grouping.aggregates.enumerated() {
      groups[place].accumulators[index].add(evaluator.value(aggregate.operand, subject).scalar)
    }
  }

  /// Where the group of `keys` is, which is made where there is none.
  private mutating func place(of keys: [PropertyValue]) -> Int {
    // Whoever made groups of the same keys: the first of them gets what comes.
    var places = places ?? Dictionary(groups.indices.map { (groups[$0].keys, $0) }) { first, _ in first }
    self.places = nil
    defer { self.places = places }
    if let place = places[keys] { return place }
    places[keys] = groups.count
    groups.append(RecordGroup(keys: keys, accumulators: grouping.aggregates.map(Accumulator.init)))
    return groups.count - 1
  }
}
