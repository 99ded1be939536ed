import Foundation

/// A process that saves until it is killed, and says what it has saved.
struct SavingProcess {
  private let place: StorePlace

  init(_ place: StorePlace) { self.place = place }

  func saveForEver() throws {
    let open = try place.open()
    var last = try SavedState.check(open)
    while true {
      last += 1
      try SavedState.save(last, in: open)
      FileHandle.standardOutput.write(Data("\(last)\n".utf8))
    }
  }
}
