/// Something that was done to files through a ``FaultInjectingFileSystem``.
public enum FileOperation: Sendable, Hashable {
  /// Asking what is at a path, or what an open file is now.
  case status(path: String)
  case resolveSymbolicLinks(path: String)
  case open(path: String)
  case read(path: String, offset: Int, count: Int)
  case map(path: String)
  case createTemporaryFile(besidePath: String)
  case write(path: String, count: Int)
  case openForPatching(path: String)
  case patch(path: String, offset: Int, count: Int)
  case synchronize(path: String)
  case close(path: String)
  case move(source: String, destination: String, exclusively: Bool)
  case synchronizeDirectory(ofPath: String)
  case remove(path: String)
  case removeAbandonedTemporaryFiles(besidePath: String)
  case lock(path: String)
}

extension FileOperation {
  /// The path that the operation is about; for a move, the new one.
  public var path: String {
    switch self {
    case .status(let path), .resolveSymbolicLinks(let path), .open(let path), .read(let path, _, _), .map(let path),
      .createTemporaryFile(let path), .write(let path, _), .openForPatching(let path), .patch(let path, _, _),
      .synchronize(let path), .close(let path),
      .move(_, let path, _), .synchronizeDirectory(let path), .remove(let path),
      .removeAbandonedTemporaryFiles(let path), .lock(let path):
      path
    }
  }

  /// Whether the operation leaves files and names as they are.
  public var isReading: Bool {
    switch self {
    case .status, .resolveSymbolicLinks, .open, .openForPatching, .read, .map, .lock: true
    default: false
    }
  }

  /// How many bytes the operation would write.
  var writtenByteCount: Int {
    switch self {
    case .write(_, let count), .patch(_, _, let count): count
    default: 0
    }
  }
}
