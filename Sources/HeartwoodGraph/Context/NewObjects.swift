import HeartwoodModel

/// The objects that are in no store yet, in the order of their insertion, found by the numbers of their temporary ids.
///
/// Objects with consecutive numbers are stored side by side, so a lookup is index arithmetic; nothing is hashed.
struct NewObjects {
  /// Objects with consecutive numbers.
  private struct Run {
    let firstNumber: Int64
    let firstSlot: Int
    var count: Int
  }

  private var slots: ContiguousArray<ManagedObject?> = []
  /// Sorted by number.
  private var runs: [Run] = []
  /// The places of present and former objects that have other ids than temporary ones.
  private var slotsByID: [ManagedObjectID: Int] = [:]
  private(set) var count = 0
}

extension NewObjects {
  var isEmpty: Bool { count == 0 }

  /// All objects, in the order of their insertion.
  var objects: [ManagedObject] { slots.compactMap(\.self) }

  /// The number of places; all objects are in places below it.
  var slotCount: Int { slots.count }

  /// The object of an id, or nil if there is none (any more).
  subscript(id: ManagedObjectID) -> ManagedObject? { slot(of: id).flatMap { slots[$0] } }

  /// Returns the place of the object of an id. O(log runs).
  func slot(of id: ManagedObjectID) -> Int? {
    guard let slot = place(of: id), slots[slot] != nil else { return nil }
    return slot
  }

  /// Returns the place that an object has or had.
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
  /// Appends an object with an id that no other has. An object that was removed returns to its place.
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

  /// Gives an object another id; it is found by both.
  mutating func rename(_ former: ManagedObjectID, to id: ManagedObjectID) {
    slotsByID[id] = slot(of: former)
  }

  /// Gives objects other ids. They are no longer found by their former ones, except by temporary ones.
  mutating func replaceIDs(_ newID: (ManagedObjectID) -> ManagedObjectID) {
    let slots = slotsByID
    slotsByID = [:]
    for (id, slot) in slots { slotsByID[newID(id)] = slot }
  }

  mutating func remove(_ object: ManagedObject) {
    if isEmpty { return }
    // Following a conversion here would give the objects other ids during the removal.
    let id = object.knownID
    guard let slot = slot(of: id), slots[slot] === object else { return }
    slots[slot] = nil
    count -= 1
    if count == 0 { self = NewObjects() }
  }

  /// Returns how many runs begin at `number` or below.
  private func index(of number: Int64) -> Int {
    if let last = runs.last, last.firstNumber <= number { return runs.count }
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].firstNumber <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns whether an object of `number`, if appended, continues `run` both by number and by place.
  private func follows(_ number: Int64, _ run: Run) -> Bool {
    number - run.firstNumber == run.count && run.firstSlot + run.count == slots.count
  }
}
