import Dispatch
import Heartwood
import Synchronization

/// Shows the progress of long work on standard error, if it is a terminal. Nothing is shown for work that is done at
/// once.
final class ProgressBar: Sendable {
  /// A part of the work.
  enum Phase: String, Sendable {
    case reading, migrating, checking, writing, flushing, verifying
  }

  private struct State {
    var phase: Phase?
    var byteCount = 0
    var expectedByteCount = 0
    var measures: [Phase: @Sendable () -> Double?] = [:]
    var isVisible = false
  }

  private static let delay = DispatchTimeInterval.milliseconds(300)
  private static let interval = DispatchTimeInterval.milliseconds(100)
  private static let cellCount = 24
  private static let clearLine = "\r\u{1B}[K"

  private let phases: [Phase]
  private let isShown: Bool
  private let state = Mutex(State())
  private let start = ContinuousClock.now

  /// - Parameter phases: the parts of the work, in order.
  init(phases: [Phase], isShown: Bool) {
    self.phases = phases
    self.isShown = isShown && Terminal.standardError.exists
  }

  /// Performs the work, and clears the bar at the end, also after an error.
  func whileShown<Value>(_ work: () throws -> Value) rethrows -> Value {
    guard isShown else { return try work() }
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + Self.delay, repeating: Self.interval)
    timer.setEventHandler { self.draw() }
    timer.activate()
    defer {
      timer.cancel()
      clear()
    }
    return try work()
  }
}

// MARK: The work

extension ProgressBar {
  func begin(_ phase: Phase) {
    state.withLock { state in
      state.phase = phase
      state.byteCount = 0
    }
  }

  /// Sets the approximate number of bytes that will be written.
  func expect(byteCount: Int) {
    state.withLock { $0.expectedByteCount = byteCount }
  }

  /// Sets the source of a phase's progress, from 0 to 1, for work that does not write through the observed files. It
  /// returns nil if the written bytes are the progress.
  func measure(_ phase: Phase, by fraction: @escaping @Sendable () -> Double?) {
    state.withLock { $0.measures[phase] = fraction }
  }

  func advance(byBytes count: Int) {
    state.withLock { $0.byteCount += count }
  }
}

// MARK: Notes during the work

extension ProgressBar {
  /// Writes lines to standard error during the work. They replace the bar, which is drawn again below them.
  func tell(_ lines: String) {
    state.withLock { state in
      StandardError.write((state.isVisible ? Self.clearLine : "") + lines)
      state.isVisible = false
    }
  }
}

// MARK: Drawing

extension ProgressBar {
  private func draw() {
    state.withLock { state in
      guard let phase = state.phase else { return }
      let text = "\(phase.rawValue), \(Quantity.text(start.duration(to: .now), digits: 1))"
      let line = Self.line(text, fraction: fraction(state), width: Terminal.standardError.width)
      StandardError.write(Self.clearLine + line)
      state.isVisible = true
    }
  }

  /// Returns the bar and the text after it. If the terminal is too narrow for both, the bar is shortened first.
  static func line(_ text: String, fraction: Double, width: Int?) -> String {
    let frame = "[] ".count + text.count
    // A line that fills the terminal would continue on the next one, which is not cleared.
    let room = width.map { max(0, $0 - 1) } ?? frame + cellCount
    let count = min(cellCount, max(0, room - frame))
    let filled = Int(fraction * Double(count))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: count - filled)
    return String("[\(bar)] \(text)".prefix(room))
  }

  /// Returns the progress. Each phase has an equal share. Without a source of its own, the progress of a phase is the
  /// share of the bytes written.
  private func fraction(_ state: State) -> Double {
    guard let phase = state.phase, let index = phases.firstIndex(of: phase) else { return 0 }
    let written = Double(state.byteCount) / Double(max(state.expectedByteCount, 1))
    let part = min(1, state.measures[phase]?() ?? written)
    return (Double(index) + part) / Double(phases.count)
  }

  /// Clears the bar. It is not drawn again, because drawing needs the lock and a phase.
  private func clear() {
    state.withLock { state in
      state.phase = nil
      if state.isVisible { StandardError.write(Self.clearLine) }
    }
  }
}

// MARK: ObservedFileSystem

/// A file system whose writes move a progress bar.
struct ObservedFileSystem: FileSystem {
  let base: any FileSystem
  let progress: ProgressBar

  func status(atPath path: String) throws(PersistenceError) -> FileStatus? {
    try base.status(atPath: path)
  }

  func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
    try base.resolvingSymbolicLinks(inPath: path)
  }

  func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile {
    try base.openFile(atPath: path)
  }

  func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? {
    try base.openFileForPatching(atPath: path)
  }

  func createTemporaryFile(
    besidePath path: String,
    permissions: UInt32?
  ) throws(PersistenceError) -> any WritableFile {
    progress.begin(.writing)
    let file = try base.createTemporaryFile(besidePath: path, permissions: permissions)
    return ObservedFile(base: file, progress: progress)
  }

  func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError) {
    try base.removeAbandonedTemporaryFiles(besidePath: path)
  }

  func moveFile(
    atPath source: String,
    toPath destination: String,
    exclusively: Bool
  ) throws(PersistenceError) {
    try base.moveFile(atPath: source, toPath: destination, exclusively: exclusively)
  }

  func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {
    try base.synchronizeDirectory(ofPath: path)
  }

  func removeFile(atPath path: String) throws(PersistenceError) {
    try base.removeFile(atPath: path)
  }

  func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)? {
    try base.lockFile(atPath: path)
  }

  func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {
    try base.copyPermissions(ofFileAtPath: source, toPath: destination)
  }

  func isWritableFile(atPath path: String) -> Bool { base.isWritableFile(atPath: path) }

  func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] {
    try base.entries(ofFolderAtPath: path)
  }

  func createFolder(atPath path: String) throws(PersistenceError) {
    try base.createFolder(atPath: path)
  }

  func removeFolder(atPath path: String) throws(PersistenceError) {
    try base.removeFolder(atPath: path)
  }
}

private struct ObservedFile: WritableFile {
  let base: any WritableFile
  let progress: ProgressBar

  var path: String { base.path }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    try base.write(bytes)
    progress.advance(byBytes: bytes.count)
  }

  func synchronize() throws(PersistenceError) {
    progress.begin(.flushing)
    try base.synchronize()
  }

  func close() throws(PersistenceError) {
    try base.close()
  }
}
