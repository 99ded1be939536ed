import HeartwoodTesting

/// What a run is made on; all of it follows from the seed.
struct RunPlan: CustomStringConvertible {
  let schema: Schema
  let storeKind: StoreKind
  /// The index of the parent of each context; nil for one that saves to the store.
  let parents: [Int?]
  let tracksHistory: Bool
  /// Whether changes can be undone. Then there is one context only, in which all changes are made.
  let hasUndo: Bool

  /// What each context does with conflicts.
  let policies: [ReferencePolicy]
  /// Whether each context merges what others save by itself.
  let mergesByItself: [Bool]
  /// Whether the store forgets what it has read now and then, which nobody must notice.
  let forgets: Bool

  init(_ schema: Schema, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    self.schema = schema
    storeKind = schema.storeKinds.randomElement(using: &generator) ?? .inMemory
    hasUndo = generator.chance(oneIn: 3)
    // Of two contexts one may change a relationship whose other side it has read long ago.
    parents = hasUndo || !schema.keepsBothSides ? [nil] : Self.parents(&generator)
    let isPlain = hasUndo
    policies = parents.map { _ in
      let isAny = !isPlain && schema.keepsBothSides && generator.chance(oneIn: 2)
      return isAny ? ReferencePolicy.allCases.randomElement(using: &generator) ?? .error : .error
    }
    mergesByItself = parents.map { $0 == nil && !isPlain && schema.keepsBothSides && generator.chance(oneIn: 3) }
    tracksHistory = schema.hasHistory && generator.chance(oneIn: 2)
    forgets = storeKind == .sqlite && generator.chance(oneIn: 2)
  }

  private static func parents(_ generator: inout SeededGenerator) -> [Int?] {
    let hasChildren = generator.chance(oneIn: 2)
    return (0..<Int.random(in: 1...4, using: &generator)).map { index in
      hasChildren && index > 0 && !generator.chance(oneIn: 4) ? Int.random(in: 0..<index, using: &generator) : nil
    }
  }

  var description: String {
    let contexts = parents.indices.map { index in
      let parent = parents[index].map { "child of \($0)" } ?? "root"
      return "\(parent), \(policies[index])\(mergesByItself[index] ? ", merging" : "")"
    }
    let traits = [forgets ? " that forgets" : "", hasUndo ? ", undo" : ""].joined()
    return "\(storeKind) store\(traits), contexts: \(contexts.joined(separator: "; "))"
  }
}
