import HeartwoodModel
import HeartwoodStore

/// Reads the records of a damaged binary property list that can be read.
struct BinaryPropertyListSalvage {
  private let remains: PropertyListRemains
  private let schema: PropertyListSchema
  private let salvage: StoreSalvage
  private let path: String
  private var list: BinaryPropertyList { remains.list }
  /// The objects of records that are in a list.
  private var claimed: Set<Int> = []
  /// The objects of the records of each entity.
  private var objects: [[Int]]
  /// Whether the list of the records of an entity has been read.
  private var isListed: [Bool]

  init(_ remains: PropertyListRemains, _ schema: PropertyListSchema, path: String, into salvage: StoreSalvage) {
    self.remains = remains
    self.schema = schema
    self.salvage = salvage
    self.path = path
    objects = schema.entities.map { _ in [] }
    isListed = schema.entities.map { _ in false }
  }

  mutating func run() {
    readLists()
    if isListed.contains(false) { findUnlisted() }
    for place in schema.entities.indices { readRecords(place) }
  }

  private mutating func readRecords(_ place: Int) {
    let entity = schema.entities[place]
    let reader = BinaryPropertyListRecordReader(
      list,
      schema: schema,
      entity: entity,
      path: path,
      allowance: BinaryPropertyListReader.allowance(list)
    )
    let (groups, faults) = reader.soundGroups(objects[place])
    for fault in faults {
      let range = (try? list.offset(fault.object)).flatMap { start in
        (try? list.end(ofObjectAt: start)).map { start..<$0 }
      }
      salvage.note(.records, fault.error, entity: entity.name, count: 1, byteRange: range)
    }
    salvage.loader.setTable(NodeTable(entity: entity.description, groups: groups))
  }

  // MARK: Lists

  private mutating func readLists() {
    guard list.root >= 0, case .dictionary(let keys, let values)? = try? list.object(list.root),
      let records = try? list.member(PropertyListFormat.recordsKey, of: keys, values),
      case .dictionary(let names, let arrays)? = try? list.object(records)
    else {
      return note(.fileParts, "The lists of the records are missing or damaged.", count: 0, at: nil)
    }
    for index in 0..<names.count {
      let array = arrays[index]
      guard let name = try? list.key(names[index]), let place = schema.place(ofEntity: name), !isListed[place] else {
        note(.fileParts, "There is a list of records of an entity that the model lacks.", count: 0, at: array)
        continue
      }
      guard case .array(let references)? = try? list.object(array) else {
        note(.fileParts, "The list of the records of \(name) is damaged.", count: 0, at: array)
        continue
      }
      isListed[place] = true
      for index in 0..<references.count { claim(references[index], place) }
    }
  }

  private mutating func claim(_ object: Int, _ place: Int) {
    guard (0..<list.objectCount).contains(object), claimed.insert(object).inserted else {
      salvage.note(
        .init(
          .records,
          entity: schema.entities[place].name,
          count: 1,
          reason: "The record is missing, or occurs twice in the file."
        )
      )
      return
    }
    objects[place].append(object)
  }

  private func note(_ kind: SalvageReport.Loss.Kind, _ reason: String, count: Int?, at object: Int?) {
    let range = object.flatMap { try? list.offset($0) }.map { $0..<($0 + 1) }
    salvage.note(.init(kind, count: count, byteRange: range, reason: reason))
  }
}

// MARK: Records that no list names

extension BinaryPropertyListSalvage {
  /// Finds the records whose list is lost. A record does not contain its entity; it is certain if its keys are those of
  /// one entity alone, or if it follows from the records before and after it, because Heartwood writes all records of
  /// one entity together.
  private mutating func findUnlisted() {
    let missing = schema.entities.indices.filter { !isListed[$0] }
    var found: [(object: Int, candidates: [Int])] = []
    for object in 0..<list.objectCount where !claimed.contains(object) {
      guard let names = recordKeys(object) else { continue }
      let candidates = missing.filter { place in
        names.allSatisfy { schema.entities[place].placesByName[$0] != nil }
      }
      found.append((object, candidates))
    }
    let bounds = Self.bounds(found.map(\.candidates))
    for (record, bounds) in zip(found, bounds) {
      if let bounds, bounds.lowerBound == bounds.upperBound {
        objects[bounds.lowerBound].append(record.object)
      } else {
        note(.records, "The entity of the record is no longer known.", count: 1, at: record.object)
      }
    }
    let names = missing.map { schema.entities[$0].name }.joined(separator: ", ")
    note(
      .records,
      "The lists of records are missing: the number of records of \(names) is not known.",
      count: nil,
      at: nil
    )
  }

  /// Returns the names of the properties of a dictionary that has a reference, as a record has; nil for all others.
  private func recordKeys(_ object: Int) -> [String]? {
    guard case .dictionary(let keys, _)? = try? list.object(object) else { return nil }
    let names = (0..<keys.count).map { try? list.key(keys[$0]) }
    guard names.contains(PropertyListFormat.referenceKey), !names.contains(PropertyListFormat.entityKey) else {
      return nil
    }
    return names.compactMap(\.self).filter { $0 != PropertyListFormat.referenceKey }
  }

  /// Returns the first and the last entity that each record may be of, given that entities never go back in the order
  /// of the file.
  private static func bounds(_ candidates: [[Int]]) -> [ClosedRange<Int>?] {
    var (least, lows): (Int, [Int?]) = (0, [])
    for places in candidates {
      let low = places.first { $0 >= least }
      least = low ?? least
      lows.append(low)
    }
    var greatest = Int.max
    var highs: [Int?] = []
    for places in candidates.reversed() {
      let high = places.last { $0 <= greatest }
      greatest = high ?? greatest
      highs.append(high)
    }
    return zip(lows, highs.reversed()).map { low, high in
      guard let low, let high, low <= high else { return nil }
      return low...high
    }
  }
}
