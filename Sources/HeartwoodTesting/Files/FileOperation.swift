/// Something that was done to files through a ``FaultInjectingFileSystem``.
public enum FileOperation: Sendable, Hashable {
  /// Asking what is at a path, or what an open file is now.
  case status(path: String)
  /// Asking where a path leads.
  case resolveSymbolicLinks(path: String)
  /// Opening a file for reading.
  case open(path: String)
  /// Reading up to so many bytes of a file from an offset on.
  case read(path: String, offset: Int, count: Int)
  /// Mapping a whole file into memory.
  case map(path: String)
  /// Making a new file beside a path, or a folder at it.
  case createTemporaryFile(besidePath: String)
  /// Appending so many bytes to a new file.
  case write(path: String, count: Int)
  /// Opening a file for writing over parts of it.
  case openForPatching(path: String)
  /// Writing over so many bytes of a file from an offset on.
  case patch(path: String, offset: Int, count: Int)
  /// Waiting until a file's bytes are on the disk.
  case synchronize(path: String)
  /// Closing a new file.
  case close(path: String)
  /// Giving a file another path, in the place of what stood there unless `exclusively` is set.
  case move(source: String, destination: String, exclusively: Bool)
  /// Waiting until the names in the directory of a path are on the disk.
  case synchronizeDirectory(ofPath: String)
  /// Removing a file or an empty folder.
  case remove(path: String)
  /// Removing the temporary files beside a path whose writers have died.
  case removeAbandonedTemporaryFiles(besidePath: String)
  /// Waiting for a file's lock, and taking it.
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
