/// How deep each entity stands below its ancestors, and which parents go in a circle. Made in O(n).
struct InheritanceSurvey {
  private enum Standing {
    case unknown
    case underway
    case depth(Int)
    /// The entity is in a circle of parents, or below one.
    case endless
  }

  private let index: DefinitionIndex
  private var standings: [Standing]
  /// The first entity of each circle, in the order of the definitions.
  private var circleStarts: Set<Int> = []

  init(_ index: DefinitionIndex) {
    self.index = index
    self.standings = Array(repeating: .unknown, count: index.definitions.count)
    for entity in index.definitions.indices { survey(entity) }
  }

  /// The names of the entities of the circle that begins at `entity`, or nil where none does.
  func circle(foundAt entity: Int) -> String? {
    guard circleStarts.contains(entity) else { return nil }
    let shown = 8
    let names = index.lineage(of: entity).map { index.definitions[$0].name }
    let ellipsis = names.count > shown ? ["…"] : []
    return (names.prefix(shown) + ellipsis + names.prefix(1)).joined(separator: " → ")
  }

  /// Whether the entity has just one ancestor more than allowed. Those further down are too deep for the same reason.
  func isFirstTooDeep(_ entity: Int) -> Bool {
    if case .depth(ManagedObjectModel.deepestInheritance + 1) = standings[entity] { true } else { false }
  }

  /// Follows the parents of `start` up to an entity that is known already, then writes down what lies between.
  private mutating func survey(_ start: Int) {
    var path: [Int] = []
    var next: Int? = start
    while let entity = next, case .unknown = standings[entity] {
      standings[entity] = .underway
      path.append(entity)
      next = index.parents[entity]
    }
    settle(path, below: next)
  }

  private mutating func settle(_ path: [Int], below entity: Int?) {
    var depth: Int?
    switch entity.map({ standings[$0] }) {
    case nil: depth = -1
    case .depth(let known): depth = known
    case .underway: noteCircle(in: path, from: entity)
    case .endless, .unknown: break
    }
    for entity in path.reversed() {
      depth = depth.map { $0 + 1 }
      standings[entity] = depth.map(Standing.depth) ?? .endless
    }
  }

  private mutating func noteCircle(in path: [Int], from entity: Int?) {
    guard let entity, let first = path.firstIndex(of: entity), let start = path[first...].min() else { return }
    circleStarts.insert(start)
  }
}
