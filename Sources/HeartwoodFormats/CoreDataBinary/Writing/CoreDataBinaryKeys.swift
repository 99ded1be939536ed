import HeartwoodModel
import HeartwoodStore

/// The keys of the records in a file: positive numbers, no two of them the same.
///
/// A record whose reference is such a number keeps it as its key. Other records, and all but the first with the same
/// number, get other numbers: those above all that are taken, if there are any.
struct CoreDataBinaryKeys {
  struct Name: Hashable {
    let reference: ReferenceID
    let entityOrdinal: Int
  }

  /// The entity of the record that has a number as its reference, by that number.
  private var owners: [Int64: Int] = [:]
  private var given: [Name: Int64] = [:]
  /// The keys that have been given.
  private var taken: Set<Int64> = []
  private var leastFree: Int64 = 1
  /// The missing records that relationships refer to and whose keys differ from their references.
  private(set) var missing: [(key: Int64, name: Name)] = []
  /// The greatest key that a record has had.
  private(set) var greatest: Int64
  /// The least number that no record has had, if it does not follow from the keys.
  let nextNumber: Int64?

  init(_ contents: StoreContents, _ schema: CoreDataBinarySchema) throws(PersistenceError) {
    let next = contents.numberAfterGreatestReference
    greatest = max(0, next == .max ? .max : next - 1)
    var others: [Name] = []
    for entity in schema.entities {
      let (table, ordinal) = (contents.table(of: entity.description), entity.description.ordinal)
      for row in table.liveRows {
        let reference = table.reference(row)
        if case .integer(let number) = reference, number > 0, owners[number] == nil {
          owners[number] = ordinal
        } else {
          others.append(Name(reference: reference, entityOrdinal: ordinal))
        }
      }
    }
    nextNumber = others.isEmpty ? nil : next
    for name in others { given[name] = try newKey() }
  }

  private mutating func newKey() throws(PersistenceError) -> Int64 {
    if greatest < .max {
      greatest += 1
      taken.insert(greatest)
      return greatest
    }
    while owners[leastFree] != nil || taken.contains(leastFree) {
      guard leastFree < .max else {
        throw PersistenceError(
          .capabilityMissing,
          "The references of the records are numbers, and there are none left.",
          recovery: .chooseAnotherType,
          context: .init(storeType: .coreDataBinary)
        )
      }
      leastFree += 1
    }
    taken.insert(leastFree)
    return leastFree
  }

  /// Returns the key of a record, or of a missing record that a relationship refers to.
  mutating func key(of reference: ReferenceID, entityOrdinal: Int) throws(PersistenceError) -> Int64 {
    let name = Name(reference: reference, entityOrdinal: entityOrdinal)
    if let key = given[name] { return key }
    if case .integer(let number) = reference, number > 0 {
      guard let owner = owners[number] else {
        return number
      }
      if owner == entityOrdinal { return number }
    }
    let key = try newKey()
    given[name] = key
    missing.append((key, name))
    return key
  }
}
