import HeartwoodModel

/// The objects that no store has yet, in the order of their insertion, found by the numbers of their temporary ids.
///
/// Numbers that follow each other lie side by side, so looking one up is a matter of places; nothing is hashed.
struct NewObjects {
  /// Objects of numbers that follow each other.
  private struct Run {
    let firstNumber: Int64
    let firstSlot: Int
    var count: Int
  }

  private var slots: ContiguousArray<ManagedObject?> = []
  /// In the order of the numbers.
  private var runs: [Run] = []
  /// The places that objects have or had which have other ids than temporary ones.
  private var slotsByID: [ManagedObjectID: Int] = [:]
  private(set) var count = 0
}

extension NewObjects {
  var isEmpty: Bool { count == 0 }

  /// All objects, in the order of their insertion.
  var objects: [ManagedObject] { slots.compactMap(\.self) }

  /// How many places there are: those of all objects are below.
  var slotCount: Int { slots.count }

  /// The object of an id, or nil where there is none (any more).
  subscript(id: ManagedObjectID) -> ManagedObject? { slot(of: id).flatMap { slots[$0] } }

  /// The place of the object of an id. O(log runs).
  func slot(of id: ManagedObjectID) -> Int? {
    guard let slot = place(of: id), slots[slot] != nil else { return nil }
    return slot
  }

  /// The place that an object has or had.
  private func place(of id: ManagedObjectID) -> Int? {
    guard id.isTemporaryID else { return slotsByID.isEmpty ? nil : slotsByID[id] }
    guard case .integer(let number) = id.reference else { return nil }
    let index = index(of: number)
    guard index > 0 else { return nil }
    let run = runs[index - 1]
    let offset = number - run.firstNumber
    return offset < run.count ? run.firstSlot + Int(offset) : nil
  }

  /// Calls `body` with each object and its place.
  func forEach(_ body: (ManagedObject, Int) throws -> Void) rethrows {
    for slot in slots.indices {
      if let object = slots[slot] { try body(object, slot) }
    }
  }
}

extension NewObjects {
  /// Appends an object whose id none of the others has. One that was removed comes back to its place.
  mutating func append(_ object: ManagedObject, _ id: ManagedObjectID) {
    count += 1
    if let place = place(of: id) {
      slots[place] = object
      return
    }
    if id.isTemporaryID, case .integer(let number) = id.reference {
      note(number)
    } else {
      slotsByID[id] = slots.count
    }
    slots.append(object)
  }

  /// Notes the number of an object that is about to be appended.
  private mutating func note(_ number: Int64) {
    let index = index(of: number)
    if index > 0, follows(number, runs[index - 1]) {
      runs[index - 1].count += 1
    } else {
      runs.insert(Run(firstNumber: number, firstSlot: slots.count, count: 1), at: index)
    }
  }

  /// Gives the object of an id another one; it is found by both.
  mutating func rename(_ former: ManagedObjectID, to id: ManagedObjectID) {
    slotsByID[id] = slot(of: former)
  }

  /// Gives objects other ids. They are no longer found by those before, except by temporary ones.
  mutating func replaceIDs(_ newID: (ManagedObjectID) -> ManagedObjectID) {
    let slots = slotsByID
    slotsByID = [:]
    for (id, slot) in slots { slotsByID[newID(id)] = slot }
  }

  mutating func remove(_ object: ManagedObject) {
    if isEmpty { return }
    // To follow a conversion would give the objects other ids while one is removed.
    let id = object.knownID
    guard let slot = slot(of: id), slots[slot] === object else { return }
    slots[slot] = nil
    count -= 1
    if count == 0 { self = NewObjects() }
  }

  /// How many runs begin at `number` or below.
  private func index(of number: Int64) -> Int {
    if let last = runs.last, last.firstNumber <= number { return runs.count }
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].firstNumber <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Whether an object of `number` that is appended is next to the last one of `run` in both ways.
  private func follows(_ number: Int64, _ run: Run) -> Bool {
    number - run.firstNumber == run.count && run.firstSlot + run.count == slots.count
  }
}
