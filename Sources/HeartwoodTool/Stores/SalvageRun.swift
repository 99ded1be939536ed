import Heartwood
import HeartwoodStore

/// What was salvaged of a damaged store, and how much of it another store could take.
final class SalvageRun {
  private(set) var salvaged: SalvagedStore

  init(_ salvaged: SalvagedStore) {
    self.salvaged = salvaged
  }

  var report: SalvageReport {
    get throws { try salvaged.report }
  }

  /// Writes what was salvaged; what the other store cannot keep is left out from then on.
  func write(to request: StoreOpener.Request, replacing: Bool, _ opener: StoreOpener) throws -> PersistentStore {
    let result = try opener.convert(salvaged, to: request, replacing: replacing)
    salvaged = result.salvaged
    return result.store
  }
}
