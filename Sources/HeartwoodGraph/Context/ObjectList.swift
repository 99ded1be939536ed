/// Objects in the order in which they came, each at most once. Asking, appending and removing are O(1) amortised.
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
