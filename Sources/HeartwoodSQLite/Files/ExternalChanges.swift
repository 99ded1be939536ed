import HeartwoodStore
import Synchronization

/// What one transaction does to the files that hold large binary data: new ones are written before the rows that name them, old ones go
/// when the rows that name them are gone for good.
final class ExternalChanges: Sendable {
  private struct State {
    var written: [String] = []
    var replaced: Set<String> = []
  }

  private let files: ExternalFiles
  private let state = Mutex(State())

  init(_ files: ExternalFiles) {
    self.files = files
  }

  /// What a column gets that holds `bytes` or leads to them.
  func cell(for bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
    guard bytes.count > ExternalFiles.greatestInlineLength else { return [ExternalFiles.inlineMark] + Array(bytes) }
    let name = try files.add(bytes)
    state.withLock { $0.written.append(name) }
    return [ExternalFiles.fileMark] + Array(name.utf8) + [0]
  }

  /// Notes that a row leads to the file called `name` no longer.
  func replace(_ name: String) {
    state.withLock { _ = $0.replaced.insert(name) }
  }

  /// Waits until all that was written is on the disk.
  func synchronize() throws {
    if state.withLock({ !$0.written.isEmpty }) { try files.synchronize() }
  }

  /// The transaction has ended: what it has replaced.
  func commit() -> Set<String> {
    take().replaced
  }

  /// The transaction has failed.
  ///
  /// - Parameter isUndone: whether it is certain that no row has been changed. Files of one of which nobody knows stay until the store
  ///   is opened next.
  func rollBack(isUndone: Bool) {
    let written = take().written
    if isUndone { files.remove(written) }
  }

  private func take() -> State {
    state.withLock { state in
      let taken = state
      state = State()
      return taken
    }
  }
}
