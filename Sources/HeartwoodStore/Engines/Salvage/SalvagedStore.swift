import HeartwoodModel

/// What is sound of a damaged store, in memory, and what is not.
package struct SalvagedStore: Sendable {
  /// A store without a file that has the records, ready to be converted. It says that it is of the type of the damaged one.
  package let store: PersistentStore
  /// What is not as it was.
  package let losses: [SalvageReport.Loss]

  package var report: SalvageReport {
    get throws {
      let counts = try store.entities.filter { !$0.isAbstract }.map { ($0.name, try store.engine.count(of: $0)) }
      return SalvageReport(recordCounts: Dictionary(counts) { first, _ in first }, losses: losses)
    }
  }
}
