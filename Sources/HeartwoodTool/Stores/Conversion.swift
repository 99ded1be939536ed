import Heartwood
import HeartwoodStore

/// Writes all that one store keeps as another.
struct Conversion {
  struct Result {
    let recordCount: Int
    let byteCount: Int
    /// How many transactions of the history were left out, because the other type keeps none.
    let lostTransactionCount: Int
    /// Whether the records are called otherwise, because the other type cannot call them as they were called.
    let hasRenamedRecords: Bool
  }

  let source: StoreSource
  let destination: Destination
  let verifies: Bool
  let progress: ProgressBar
  /// How far a store has come that makes the other one itself.
  private let copying: MigrationProgress
  private let registry = StoreRegistry.tool

  init(source: StoreSource, destination: Destination, verifies: Bool, progress: ProgressBar) {
    self.source = source
    self.destination = destination
    self.verifies = verifies
    self.progress = progress
    // A store that makes the other one itself writes past the files that are observed.
    let copying = MigrationProgress { _ in progress.begin(.writing) }
    progress.measure(.writing) { [weak copying] in
      copying.flatMap { $0.fractionCompleted > 0 ? $0.fractionCompleted : nil }
    }
    self.copying = copying
  }

  static func phases(verifies: Bool) -> [ProgressBar.Phase] {
    [.reading, .checking, .writing, .flushing] + (verifies ? [.verifying] : [])
  }

  func run() throws -> Result {
    let type = try destination.type(in: registry)
    try destination.check(against: source.path, in: POSIXFileSystem())
    progress.begin(.reading)
    let opened = try source.open()
    progress.begin(.checking)
    // What is read as it is needed is read when it is written, if at all.
    if !opened.store.engine.readsAsNeeded { _ = try opened.store.engine.contents() }
    let written = try write(opened, type)
    if verifies { try verify(written, opened, type) }
    let size = try POSIXFileSystem().status(atPath: destination.path)?.size
    return Result(
      recordCount: try opened.store.entities.filter { !$0.isAbstract }.reduce(0) {
        try $0 + opened.store.engine.count(of: $1)
      },
      byteCount: size ?? 0,
      lostTransactionCount: try lostTransactionCount(opened, type),
      hasRenamedRecords: written.engine.hasRenamedRecords
    )
  }

  private func lostTransactionCount(_ opened: OpenStore, _ type: StoreType) throws -> Int {
    let isKept = try registry.storeClass(for: type).typeDescription.capabilities.supportsHistory
    return isKept ? 0 : try opened.store.engine.history()?.transactionCount ?? 0
  }

  private func write(_ opened: OpenStore, _ type: StoreType) throws -> PersistentStore {
    progress.expect(byteCount: opened.size)
    let fileSystem = ObservedFileSystem(base: POSIXFileSystem(), progress: progress)
    let opener = StoreOpener(model: opened.model.model, registry: registry, fileSystem: fileSystem)
    let request = StoreOpener.Request(type: type, path: destination.path, options: StoreOptions())
    let written = try opener.copy(
      opened.store,
      to: request,
      replacing: destination.isReplaced,
      progress: copying
    )
    OpenedStores.add(written)
    return written
  }

  /// Reads what was written and compares it with what was to be: the records of the source, under the names that they have now.
  private func verify(_ store: PersistentStore, _ opened: OpenStore, _ type: StoreType) throws {
    progress.begin(.verifying)
    let opener = StoreOpener(model: opened.model.model, registry: registry, fileSystem: POSIXFileSystem())
    let reopened = try opener.open(.reading(destination.path, type))
    OpenedStores.add(reopened)
    let written = try reopened.engine.contents()
    guard let difference = ContentsComparison.firstDifference(try store.engine.contents(), written) else { return }
    throw ToolError("\(destination.path): What was written is not what was read: \(difference).")
  }
}
