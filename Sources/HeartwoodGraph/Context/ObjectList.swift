/// Objects in the order in which they came, each at most once. Appending and removing are O(1) amortised.
struct ObjectList {
  private var slots: [ManagedObject?] = []
  private var positions: [ObjectIdentifier: Int] = [:]

  var isEmpty: Bool { positions.isEmpty }
  var objects: [ManagedObject] { slots.compactMap(\.self) }

  mutating func append(_ object: ManagedObject) {
    guard positions[ObjectIdentifier(object)] == nil else { return }
    positions[ObjectIdentifier(object)] = slots.count
    slots.append(object)
  }

  mutating func remove(_ object: ManagedObject) {
    guard let position = positions.removeValue(forKey: ObjectIdentifier(object)) else { return }
    slots[position] = nil
    if positions.isEmpty { slots = [] }
  }
}
