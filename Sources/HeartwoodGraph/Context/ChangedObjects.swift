import HeartwoodStore

/// A set of objects that have records in stores, found by their rows and ordered by entity and row.
///
/// Inserting and removing are O(1); nothing is hashed as long as the objects are of one entity. Objects whose records
/// only a parent context has may change their rows, so they come last, in the order of their insertion.
struct ChangedObjects {
  /// Objects of one entity of one store.
  private struct Part {
    let binding: EntityBinding
    /// By row, in chunks that are allocated on demand.
    var chunks: ContiguousArray<ContiguousArray<ManagedObject?>> = []
  }

  private static let chunkSize = 256

  private var parts: [Part] = []
  private var partsByBinding: [ObjectIdentifier: Int] = [:]
  private var lastPart = 0
  private var staged = ObjectList()
  private var rowCount = 0
  private(set) var count = 0
}

extension ChangedObjects {
  var isEmpty: Bool { count == 0 }

  /// All objects.
  var objects: [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(count)
    forEach { objects.append($0) }
    return objects
  }

  /// Returns the objects of the bindings that meet a condition. It does not look at the others.
  func objects(_ condition: (EntityBinding) -> Bool) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    forEach(where: condition) { objects.append($0) }
    return objects
  }

  /// Calls `body` with each object of the bindings that meet a condition.
  func forEach(
    where condition: (EntityBinding) -> Bool = { _ in true },
    _ body: (ManagedObject) throws -> Void
  ) rethrows {
    for part in parts where condition(part.binding) {
      for chunk in part.chunks {
        for case let object? in chunk { try body(object) }
      }
    }
    for object in staged.objects where condition(object.binding) { try body(object) }
  }

  mutating func insert(_ object: ManagedObject) {
    if Self.isStaged(object) {
      staged.append(object)
      count = rowCount + staged.count
      return
    }
    let part = makePart(object.binding)
    let (chunk, place) = Self.place(of: object)
    while parts[part].chunks.count <= chunk { parts[part].chunks.append([]) }
    if parts[part].chunks[chunk].isEmpty {
      parts[part].chunks[chunk] = ContiguousArray(repeating: nil, count: Self.chunkSize)
    }
    if parts[part].chunks[chunk][place] != nil { return }
    parts[part].chunks[chunk][place] = object
    rowCount += 1
    count += 1
  }

  mutating func remove(_ object: ManagedObject) {
    if isEmpty { return }
    if Self.isStaged(object) {
      staged.remove(object)
      count = rowCount + staged.count
      return
    }
    // The object may have had no row when it was inserted.
    if !staged.isEmpty, staged.contains(object) {
      staged.remove(object)
      count = rowCount + staged.count
      return
    }
    guard let part = part(object.binding) else { return }
    let (chunk, place) = Self.place(of: object)
    guard chunk < parts[part].chunks.count, !parts[part].chunks[chunk].isEmpty,
      parts[part].chunks[chunk][place] === object
    else { return }
    parts[part].chunks[chunk][place] = nil
    rowCount -= 1
    count -= 1
    if count == 0 { self = ChangedObjects() }
  }

  /// Returns whether the object has no permanent row.
  private static func isStaged(_ object: ManagedObject) -> Bool { object.binding.rowsMayMove || object.rowID == .none }

  private static func place(of object: ManagedObject) -> (chunk: Int, place: Int) {
    let row = Int(object.rowID.rawValue)
    return (row / chunkSize, row % chunkSize)
  }

  private func part(_ binding: EntityBinding) -> Int? {
    if lastPart < parts.count, parts[lastPart].binding === binding { return lastPart }
    return partsByBinding[ObjectIdentifier(binding)]
  }

  private mutating func makePart(_ binding: EntityBinding) -> Int {
    if let part = part(binding) {
      lastPart = part
      return part
    }
    partsByBinding[ObjectIdentifier(binding)] = parts.count
    lastPart = parts.count
    parts.append(Part(binding: binding))
    return lastPart
  }
}

// MARK: ObjectList

/// Objects in the order of their insertion, each at most once. Lookups, insertions and removals are O(1) amortised.
struct ObjectList {
  private var slots: [ManagedObject?] = []
  private var positions: [ObjectIdentifier: Int] = [:]

  var isEmpty: Bool { positions.isEmpty }
  var count: Int { positions.count }
  var objects: [ManagedObject] { slots.compactMap(\.self) }

  func contains(_ object: ManagedObject) -> Bool { positions[ObjectIdentifier(object)] != nil }

  mutating func append(_ object: ManagedObject) {
    guard positions[ObjectIdentifier(object)] == nil else { return }
    positions[ObjectIdentifier(object)] = slots.count
    slots.append(object)
  }

  mutating func remove(_ object: ManagedObject) {
    guard let position = positions.removeValue(forKey: ObjectIdentifier(object)) else { return }
    slots[position] = nil
    if slots.count > 16, slots.count > 2 * positions.count { compact() }
  }

  private mutating func compact() {
    slots = objects
    for (position, object) in objects.enumerated() { positions[ObjectIdentifier(object)] = position }
  }
}
