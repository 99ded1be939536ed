import Foundation
import HeartwoodStore

/// Kills a process that saves, again and again, and looks each time whether the file is that of one save: the last one that the process has
/// told of, or the one that it was at.
struct KillCampaign {
  let place: StorePlace
  var random: Random

  init(place: StorePlace, random: Random) {
    (self.place, self.random) = (place, random)
  }

  func run(count: Int) throws {
    var campaign = self
    try campaign.repeatKills(count)
  }

  private mutating func repeatKills(_ count: Int) throws {
    try place.clear()
    var (last, cutShort) = (0, 0)
    for number in 0..<count {
      let told = max(last, try killOnce())
      let saved = try check()
      guard saved == told || saved == told + 1 else {
        throw StoreCampaign.Flaw("Kill \(number): save \(told) was told, and \(saved) is in the file.")
      }
      if saved == told { cutShort += 1 }
      last = saved
    }
    try saveOnceMore(last)
    print(
      "\(place.type.rawValue): \(count) kills, \(last) saves, each file whole; "
        + "\(count - cutShort) times the save that the process was at was there, before it could tell"
    )
  }

  /// Starts a process and kills it after some time, or at once.
  ///
  /// - Returns: the last save that it has told of; 0 for none.
  private mutating func killOnce() throws -> Int {
    let child = try ChildProcess("save", place, 0, 0)
    var text = Data()
    // Mostly it is killed while it saves, and now and then while it starts.
    if random.number(below: 10) > 0 { text += child.waitForOutput() }
    usleep(UInt32(random.number(below: 20_000)))
    guard let rest = child.kill() else { throw StoreCampaign.Flaw("The process that saves ended by itself.") }
    text += rest
    // A line that was cut short is a number with fewer digits.
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
    return lines.last.flatMap { Int($0) } ?? 0
  }

  /// Whatever the killed have left is gone after a save.
  private func saveOnceMore(_ last: Int) throws {
    let open = try place.open()
    try SavedState.save(last + 1, in: open)
    open.close()
    let strangers = try place.strangers()
    try SavedState.expect(strangers.isEmpty, "These are left: \(strangers)")
  }

  /// Opens the file as the next process would.
  private func check() throws -> Int {
    guard FileManager.default.fileExists(atPath: place.url.path) else { return 0 }
    let open = try place.open()
    defer { open.close() }
    return try SavedState.check(open)
  }
}
