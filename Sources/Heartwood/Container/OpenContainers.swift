import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodStore
import Synchronization

/// Keeps track of the containers of the process, so that no two of them open the same file. Otherwise one could
/// overwrite the other's saves, or have its own saves refused.
final class OpenContainers: Sendable {
  static let shared = OpenContainers()

  private struct Entry {
    weak var coordinator: PersistentStoreCoordinator?
    let name: String
  }

  private struct State {
    var entries: [Entry] = []
    /// The files that are being opened, with the file systems that they are in.
    var opening: [(path: String, fileSystem: any FileSystem, name: String)] = []
  }

  private let state = Mutex(State())

  /// Registers the coordinator of the container called `name` until the coordinator is deallocated.
  func add(_ coordinator: PersistentStoreCoordinator, name: String) {
    state.withLock { state in
      state.entries.removeAll { $0.coordinator == nil }
      state.entries.append(Entry(coordinator: coordinator, name: name))
    }
  }

  /// Runs `body`, which opens the file at `url`, unless a container has the file open or is opening it. A store at a
  /// URL of another scheme may be open several times.
  func opening<Result>(
    _ url: URL,
    of coordinator: PersistentStoreCoordinator,
    name: String,
    _ body: () throws(PersistenceError) -> Result
  ) throws(PersistenceError) -> Result {
    guard url.isFileURL else { return try body() }
    let fileSystem = coordinator.fileSystem
    // try?: a path that cannot be resolved is compared as it is.
    let path = (try? fileSystem.resolvingSymbolicLinks(inPath: url.path)) ?? url.path
    try state.withLock { state throws(PersistenceError) in
      let holder =
        state.opening.first { $0.path == path && Self.isSame($0.fileSystem, fileSystem) }?.name
        ?? state.entries.first { Self.hasOpen(url, fileSystem, $0.coordinator) }?.name
      if let holder { throw Self.alreadyOpen(path, holder) }
      state.opening.append((path, fileSystem, name))
    }
    defer {
      state.withLock { state in
        state.opening.removeAll { $0.path == path && Self.isSame($0.fileSystem, fileSystem) }
      }
    }
    return try body()
  }

  private static func hasOpen(
    _ url: URL,
    _ fileSystem: any FileSystem,
    _ coordinator: PersistentStoreCoordinator?
  ) -> Bool {
    guard let coordinator, isSame(coordinator.fileSystem, fileSystem) else { return false }
    return coordinator.persistentStore(for: url) != nil
  }

  /// Returns whether a path refers to the same file in both file systems.
  private static func isSame(_ left: any FileSystem, _ right: any FileSystem) -> Bool {
    guard type(of: left) == type(of: right) else { return false }
    guard type(of: left) is AnyObject.Type else { return true }
    return (left as AnyObject) === (right as AnyObject)
  }

  private static func alreadyOpen(_ path: String, _ name: String) -> PersistenceError {
    PersistenceError(
      .storeAlreadyOpen,
      "The container \(name) of this process has the file open.",
      recovery: "Use that container, or close it first.",
      context: .init(path: path)
    )
  }
}
