import HeartwoodModel

/// The objects of live results in their order, section by section.
///
/// Adding and removing an object costs O(log objects) comparisons and moves at most some hundred pointers; after a
/// change, indices are computed when they are first requested, with an addition for each section and each chunk of some
/// hundred objects.
final class LiveList {
  private(set) var sections: [LiveSection] = []
  private var chunks: [ObjectIdentifier: LiveChunk] = [:]
  private var isNumbered = true
  let order: LiveOrder
  let sectionOrder: LiveSectionOrder
  /// Whether sections are added and removed; otherwise there is one.
  let isSectioned: Bool

  /// - Parameter sectionOrder: nil if there is only one section.
  init(_ order: LiveOrder, _ sectionOrder: LiveSectionOrder?) {
    self.order = order
    self.sectionOrder = sectionOrder ?? LiveSectionOrder(ordering: SortOrdering(.value), isAscending: true)
    isSectioned = sectionOrder != nil
    if !isSectioned { sections = [LiveSection(LiveSectionKey(order: .null, name: .null))] }
  }
}

// MARK: Looking up

extension LiveList {
  var count: Int { chunks.count }

  func chunk(of object: ManagedObject) -> LiveChunk? { chunks[ObjectIdentifier(object)] }

  func entry(of object: ManagedObject) -> LiveEntry? {
    chunk(of: object)?.entries.first { $0.object === object }
  }

  /// Returns the place of an object: its section, its index there, and its index among all.
  func place(of object: ManagedObject) -> (section: LiveSection, item: Int, index: Int)? {
    guard let chunk = chunk(of: object), let offset = chunk.entries.firstIndex(where: { $0.object === object }) else {
      return nil
    }
    number()
    let item = chunk.start + offset
    return (chunk.section, item, chunk.section.start + item)
  }

  /// Returns the object at an index of a section; nil if there is none.
  func object(section ordinal: Int, item: Int) -> ManagedObject? {
    guard sections.indices.contains(ordinal), item >= 0, item < sections[ordinal].count else { return nil }
    number()
    let chunks = sections[ordinal].chunks
    let chunk = chunks[chunks.firstPlace { $0.start > item } - 1]
    return chunk.entries[item - chunk.start].object
  }

  /// Computes the indices.
  func number() {
    if isNumbered { return }
    var start = 0
    for (ordinal, section) in sections.enumerated() {
      section.ordinal = ordinal
      section.start = start
      section.number()
      start += section.count
    }
    isNumbered = true
  }
}

// MARK: Filling

extension LiveList {
  /// Appends an object to `section`. The object must come after all others of the section.
  func append(_ entry: LiveEntry, to section: LiveSection) {
    let chunk: LiveChunk
    if let last = section.chunks.last, last.entries.count < LiveChunk.capacity / 2 {
      chunk = last
    } else {
      chunk = LiveChunk(section, [])
      chunk.start = section.count
      section.chunks.append(chunk)
    }
    chunk.entries.append(entry)
    section.count += 1
    chunks[ObjectIdentifier(entry.object)] = chunk
    isNumbered = false
  }

  func reserve(_ count: Int) {
    chunks.reserveCapacity(count)
  }

  /// Returns the section of `key`, and creates it if there is none yet.
  func section(of key: LiveSectionKey) -> LiveSection {
    let place = sections.firstPlace { sectionOrder.compare($0.key, key) >= 0 }
    if place < sections.count, sectionOrder.compare(sections[place].key, key) == 0 { return sections[place] }
    let section = LiveSection(key)
    sections.insert(section, at: place)
    isNumbered = false
    return section
  }
}

// MARK: Changing

extension LiveList {
  /// Inserts an object in its place.
  func insert(_ entry: LiveEntry, into section: LiveSection) {
    defer { changed(section, by: 1) }
    guard !section.chunks.isEmpty else {
      section.chunks.append(LiveChunk(section, [entry]))
      chunks[ObjectIdentifier(entry.object)] = section.chunks[0]
      return
    }
    // The first chunk whose last object comes after it.
    let place = section.chunks.firstPlace { chunk in
      chunk.entries.last.map { order.comes(entry, before: $0) } ?? false
    }
    let chunk = section.chunks[min(place, section.chunks.count - 1)]
    chunk.entries.insert(entry, at: chunk.entries.firstPlace { order.comes(entry, before: $0) })
    chunks[ObjectIdentifier(entry.object)] = chunk
    if chunk.entries.count > LiveChunk.capacity { split(chunk) }
  }

  private func split(_ chunk: LiveChunk) {
    let section = chunk.section
    guard let place = section.chunks.firstIndex(where: { $0 === chunk }) else { return }
    let half = chunk.entries.count / 2
    let rest = LiveChunk(section, ContiguousArray(chunk.entries[half...]))
    chunk.entries.removeSubrange(half...)
    section.chunks.insert(rest, at: place + 1)
    for entry in rest.entries { chunks[ObjectIdentifier(entry.object)] = rest }
  }

  /// Removes an object. Its section stays, although it may be empty.
  func remove(_ object: ManagedObject) {
    guard let chunk = chunks.removeValue(forKey: ObjectIdentifier(object)),
      let offset = chunk.entries.firstIndex(where: { $0.object === object })
    else { return }
    let section = chunk.section
    chunk.entries.remove(at: offset)
    if chunk.entries.isEmpty { section.chunks.removeAll { $0 === chunk } }
    changed(section, by: -1)
  }

  /// Replaces an entry by another one with the same object in the same place.
  func replace(_ entry: LiveEntry) {
    guard let (chunk, offset) = position(of: entry.object) else { return }
    chunk.entries[offset] = entry
  }

  /// Notes that a save has written the changes of an object.
  func noteSave(of object: ManagedObject) {
    guard let (chunk, offset) = position(of: object) else { return }
    chunk.entries[offset].seen = object.recordVersion
    chunk.forgetIDs()
  }

  private func position(of object: ManagedObject) -> (chunk: LiveChunk, offset: Int)? {
    guard let chunk = chunk(of: object), let offset = chunk.entries.firstIndex(where: { $0.object === object }) else {
      return nil
    }
    return (chunk, offset)
  }

  /// Returns whether an object is in the wrong order with one of its neighbours: a save may have given it another
  /// place.
  func isMisplaced(_ object: ManagedObject) -> Bool {
    guard let place = place(of: object), let entry = entry(of: object) else { return false }
    func neighbour(_ item: Int) -> LiveEntry? {
      self.object(section: place.section.ordinal, item: item).flatMap(self.entry)
    }
    if let before = neighbour(place.item - 1), order.comes(entry, before: before) { return true }
    return neighbour(place.item + 1).map { order.comes($0, before: entry) } ?? false
  }

  /// Removes sections without objects.
  func remove(_ emptySections: [LiveSection]) {
    if emptySections.isEmpty || !isSectioned { return }
    let gone = Set(emptySections.map { ObjectIdentifier($0) })
    sections.removeAll { gone.contains(ObjectIdentifier($0)) }
    isNumbered = false
  }

  private func changed(_ section: LiveSection, by difference: Int) {
    section.count += difference
    section.isNumbered = false
    isNumbered = false
  }
}

extension RandomAccessCollection where Index == Int {
  /// Returns the first index whose element passes `test`, or the end if none does. Elements that fail must precede
  /// those that pass.
  func firstPlace(_ test: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if test(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

// MARK: ChunkedElements

/// Elements in several arrays, one after the other.
struct ChunkedElements<Element> {
  private let chunks: [ContiguousArray<Element>]
  /// The index of the first element of each chunk.
  private let starts: [Int]
  let count: Int

  init(_ chunks: [ContiguousArray<Element>]) {
    var starts: [Int] = []
    var count = 0
    for chunk in chunks {
      starts.append(count)
      count += chunk.count
    }
    self.chunks = chunks
    self.starts = starts
    self.count = count
  }

  /// O(log chunks).
  subscript(place: Int) -> Element {
    ProgrammerError.check(place >= 0 && place < count, "There are \(count) elements, and none at \(place).")
    let chunk = starts.firstPlace { $0 > place } - 1
    return chunks[chunk][place - starts[chunk]]
  }
}

extension ChunkedElements: Sendable where Element: Sendable {}
