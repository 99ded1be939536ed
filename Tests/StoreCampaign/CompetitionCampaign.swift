import Foundation
import Heartwood
import HeartwoodStore

/// Several processes that save to one file at the same time: all that each has saved is there at the end.
struct CompetitionCampaign {
  let place: StorePlace
  let saveCount: Int

  func run(count: Int) throws {
    try place.clear()
    try makeFile()
    let children = try (0..<count).map { try ChildProcess("compete-one", place, $0, saveCount) }
    var conflicts = 0
    for child in children { conflicts += Int(try child.finish().trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0 }
    let open = try place.open()
    defer { open.close() }
    let found = try open.items().map { [$0.save, $0.number] }
    let expected = (0..<count).flatMap { process in (0..<saveCount).map { [process, $0] } }
    try SavedState.expect(found == expected, "\(expected.count) items were saved, and \(found.count) are there.")
    try open.checkBallast()
    let strangers = try place.strangers()
    try SavedState.expect(strangers.isEmpty, "These are left: \(strangers)")
    print(
      "\(place.type.rawValue): \(count) processes, \(expected.count) saves, all there; "
        + "\(conflicts) times a save was refused because another process had saved, and was made again"
    )
  }

  private func makeFile() throws {
    let open = try place.open()
    defer { open.close() }
    let item = try open.context.insert(Item.self)
    item.text = "first"
    try open.insertBallast()
    try open.context.save()
    open.context.delete(item)
    try open.context.save()
  }
}

/// One of them. Where the file is another than the one that it has read, it reads that and tries again.
struct CompetingProcess {
  private let place: StorePlace
  private let number: Int

  init(_ place: StorePlace, number: Int) {
    (self.place, self.number) = (place, number)
  }

  func save(count: Int) throws {
    var conflicts = 0
    var open = try place.open()
    for index in 0..<count {
      while try !save(index, in: open) {
        conflicts += 1
        open.close()
        open = try place.open()
      }
    }
    open.close()
    print(conflicts)
  }

  /// - Returns: whether nobody else had saved.
  private func save(_ index: Int, in open: OpenPlace) throws -> Bool {
    let item = try open.context.insert(Item.self)
    (item.save, item.number) = (number, index)
    item.text = "process \(number), save \(index)"
    do {
      try open.context.save()
      return true
    } catch let error as HeartwoodStore.PersistenceError where error.code == .fileChangedOnDisk {
      return false
    }
  }
}
