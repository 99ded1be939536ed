import Foundation
import Heartwood

/// What a file holds after each of the saves that are made here: all of it is written by each, so that a part of a save is seen.
///
/// The save with a number inserts three items, stamps all that are left with its number, and deletes those of ten saves before.
struct SavedState {
  private static let itemsInSave = 3
  private static let savesKept = 10
  private static let savesWithSameMetadata = 8

  /// Makes the next save. The file had `last` before.
  static func save(_ number: Int, in place: OpenPlace) throws {
    if number == 1 { try place.insertBallast() }
    var first: Item?
    for index in 0..<itemsInSave {
      let item = try place.context.insert(Item.self)
      (item.save, item.number) = (number, index)
      (item.text, item.data) = (text(number, index), data(number, index))
      item.first = first
      first = first ?? item
    }
    let items = try place.items()
    for item in items { item.stamp = number }
    for item in items where item.save <= number - savesKept { place.context.delete(item) }
    // Not by each save: one that changes the metadata writes a whole file.
    if place.store.capabilities.supports(.userMetadata), number % savesWithSameMetadata == 0 {
      try place.store.setUserInfo(["stamp": .integer(Int64(number))])
    }
    try place.context.save()
  }

  private static func text(_ save: Int, _ index: Int) -> String {
    "save \(save), item \(index): " + String(repeating: "é, \"\n", count: save % 40)
  }

  /// Some are so large that an SQLite store keeps them in files of their own.
  private static func data(_ save: Int, _ index: Int) -> Data? {
    guard index == 1 else { return nil }
    return Data(repeating: UInt8(truncatingIfNeeded: save), count: save % 7 == 0 ? 150_000 : save % 200)
  }

  /// The number of the last save in the file, whose every part is that of the same save; 0 where there is none.
  static func check(_ place: OpenPlace) throws -> Int {
    let items = try place.items()
    guard let last = items.last?.save else { return 0 }
    let saves = max(1, last - savesKept + 1)...last
    try expect(items.count == saves.count * itemsInSave, "There are \(items.count) items after save \(last).")
    for (position, item) in items.enumerated() {
      let (save, index) = (saves.lowerBound + position / itemsInSave, position % itemsInSave)
      try check(item, save, index, stamp: last, first: items[position - index])
    }
    if place.store.capabilities.supports(.userMetadata) {
      let stamp = place.store.metadata.userInfo["stamp"]
      let stamped = last - last % savesWithSameMetadata
      try expect(
        stamp == (stamped > 0 ? .integer(Int64(stamped)) : nil),
        "The metadata are of another save than \(last)."
      )
    }
    try place.checkBallast()
    return last
  }

  private static func check(_ item: Item, _ save: Int, _ index: Int, stamp: Int, first: Item) throws {
    try expect(item.save == save && item.number == index, "An item of save \(save) is missing.")
    try expect(item.stamp == stamp, "An item of save \(save) is from before save \(stamp).")
    try expect(item.text == text(save, index), "A text of save \(save) is another.")
    try expect(item.data == data(save, index), "Data of save \(save) are others.")
    try expect(item.first === (index == 0 ? nil : first), "A reference of save \(save) leads elsewhere.")
    try expect(item.others.count == (index == 0 ? itemsInSave - 1 : 0), "References to save \(save) are missing.")
  }

  static func expect(_ condition: Bool, _ description: @autoclosure () -> String) throws {
    guard condition else { throw StoreCampaign.Flaw(description()) }
  }
}
