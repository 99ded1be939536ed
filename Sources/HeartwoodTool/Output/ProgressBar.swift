import Dispatch
import Heartwood
import Synchronization

/// Shows on a terminal's standard error how far long work has come. What is done at once shows nothing, and neither does work
/// whose standard error is not a terminal.
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

  /// Does the work, and clears the bar when it is done or has failed.
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

  /// Says about how many bytes will be written.
  func expect(byteCount: Int) {
    state.withLock { $0.expectedByteCount = byteCount }
  }

  /// Says how far a phase is, from 0 to 1, in which nothing is written that this bar sees; nil where it does see it.
  func measure(_ phase: Phase, by fraction: @escaping @Sendable () -> Double?) {
    state.withLock { $0.measures[phase] = fraction }
  }

  func advance(byBytes count: Int) {
    state.withLock { $0.byteCount += count }
  }
}

// MARK: Telling

extension ProgressBar {
  /// Writes lines to standard error while the work goes on: where the bar was, which is drawn anew below them.
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

  /// The bar and what stands behind it, which is more worth than cells where a terminal has no room for both.
  static func line(_ text: String, fraction: Double, width: Int?) -> String {
    let frame = "[] ".count + text.count
    // A line that fills the terminal would go on in the next one, which is not cleared.
    let room = width.map { max(0, $0 - 1) } ?? frame + cellCount
    let count = min(cellCount, max(0, room - frame))
    let filled = Int(fraction * Double(count))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: count - filled)
    return String("[\(bar)] \(text)".prefix(room))
  }

  /// Each phase has an equal share; in one that nobody measures, what is written tells.
  private func fraction(_ state: State) -> Double {
    guard let phase = state.phase, let index = phases.firstIndex(of: phase) else { return 0 }
    let written = Double(state.byteCount) / Double(max(state.expectedByteCount, 1))
    let part = min(1, state.measures[phase]?() ?? written)
    return (Double(index) + part) / Double(phases.count)
  }

  /// No drawing follows: whoever draws holds the lock, and finds no phase afterwards.
  private func clear() {
    state.withLock { state in
      state.phase = nil
      if state.isVisible { StandardError.write(Self.clearLine) }
    }
  }
}

// MARK: ObservedFileSystem

/// The files of another file system, whose writing moves a progress bar.
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
