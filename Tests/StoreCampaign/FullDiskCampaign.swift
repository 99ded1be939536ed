import Foundation
import Heartwood
import HeartwoodStore

/// Saves more and more to a small disk until it is full: then the save fails with an error, the file is that of the save before, nothing is
/// left beside it, and once there is room again, saving works.
struct FullDiskCampaign {
  let place: StorePlace
  private var random: Random
  /// What goes from the disk to make room: as much as all else takes, since a database may write what it deletes over with zeros.
  private static let ballastLength = 2 << 20

  init(place: StorePlace, random: Random) {
    (self.place, self.random) = (place, random)
  }

  func run(count: Int) throws {
    var campaign = self
    var saves = 0
    for _ in 0..<count { saves += try campaign.fillOnce() }
    print("\(place.type.rawValue): \(count) times full after \(saves) saves; each file whole, and saved to again")
  }

  private mutating func fillOnce() throws -> Int {
    try place.clear()
    let ballast = place.folder.deletingLastPathComponent().appending(path: "ballast")
    try Data(count: Self.ballastLength).write(to: ballast)
    let open = try place.open()
    var count = 0
    let size = 2_000 + random.number(below: 60_000)
    while try insert(count, size, in: open) { count += 1 }
    try SavedState.expect(count > 0, "Nothing could be saved.")
    // The next save would remove what this one has left.
    try expectNothingElse()
    try check(count, size)
    // What could not be saved is given up, and so is most of what was.
    try FileManager.default.removeItem(at: ballast)
    open.context.rollback()
    for item in try open.items().dropLast() { open.context.delete(item) }
    try open.context.save()
    open.close()
    let again = try place.open()
    defer { again.close() }
    try SavedState.expect(try again.items().count == 1, "The save after the failed one is not there.")
    try expectNothingElse()
    return count
  }

  private func expectNothingElse() throws {
    let strangers = try place.strangers()
    try SavedState.expect(strangers.isEmpty, "These are left: \(strangers)")
  }

  /// - Returns: whether there was room.
  private func insert(_ index: Int, _ size: Int, in open: OpenPlace) throws -> Bool {
    let item = try open.context.insert(Item.self)
    item.save = index
    item.text = String(repeating: "x", count: size)
    do {
      try open.context.save()
      return true
    } catch let error as HeartwoodStore.PersistenceError where error.code == .fileWriteFailed {
      return false
    }
  }

  /// Looks at the file as another process would.
  private func check(_ count: Int, _ size: Int) throws {
    let open = try place.open()
    defer { open.close() }
    let items = try open.items()
    try SavedState.expect(items.count == count, "\(count) items were saved, and \(items.count) are there.")
    for item in items {
      try SavedState.expect(item.text.utf8.count == size, "A text is another.")
    }
  }
}
