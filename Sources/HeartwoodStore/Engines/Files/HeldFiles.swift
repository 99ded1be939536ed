import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Declares that this process keeps POSIX locks on a file, as SQLite does, for as long as this object exists.
///
/// POSIX releases all locks of a process on a file as soon as the process closes any descriptor of it, whatever code
/// opened that. Other processes would then take the file for one that is not open. So descriptors of a held file stay
/// open until the last hold ends, and the next code that opens the file gets one of them.
///
/// A store whose library takes such locks makes a hold before the library opens the file, and keeps it until the
/// library has closed it.
public final class FileHold: Sendable {
  private let file: HeldFiles.File

  /// Holds the file; must be called before the locks are taken. Returns nil if there is no file at `path`.
  public init?(atPath path: String) {
    guard let file = HeldFiles.File(atPath: path) else { return nil }
    self.file = file
    HeldFiles.hold(file)
  }

  deinit {
    HeldFiles.release(file)
  }
}

/// The held files, with their descriptors that are kept open to be used again.
enum HeldFiles {
  /// Identifies a file, whatever its name is.
  struct File: Hashable {
    private let device: UInt64
    private let number: UInt64

    init?(atPath path: String) {
      var info = stat()
      guard stat(path, &info) == 0 else { return nil }
      self.init(info)
    }

    init?(_ descriptor: Int32) {
      var info = stat()
      guard fstat(descriptor, &info) == 0 else { return nil }
      self.init(info)
    }

    private init(_ info: stat) {
      device = UInt64(truncatingIfNeeded: info.st_dev)
      number = UInt64(info.st_ino)
    }
  }

  private struct Entry {
    var holdCount = 0
    var readable: [Int32] = []
    /// The descriptors that can only be written to.
    var others: [Int32] = []
  }

  private static let entries = Mutex<[File: Entry]>([:])

  fileprivate static func hold(_ file: File) {
    entries.withLock { $0[file, default: Entry()].holdCount += 1 }
  }

  fileprivate static func release(_ file: File) {
    entries.withLock { entries in
      entries[file]?.holdCount -= 1
      guard let entry = entries[file], entry.holdCount == 0 else { return }
      entries[file] = nil
      for descriptor in entry.readable + entry.others { _ = systemClose(descriptor) }
    }
  }

  /// Returns a readable descriptor of a held file that is not in use.
  static func takeDescriptor(ofFileAt path: String) -> Int32? {
    entries.withLock { entries in
      guard !entries.isEmpty, let file = File(atPath: path) else { return nil }
      return entries[file]?.readable.popLast()
    }
  }

  /// Closes a descriptor, or keeps it open if the file is held. Returns the result of the system's call.
  @discardableResult
  static func close(_ descriptor: Int32, isReadable: Bool = true) -> Int32 {
    // This holds the lock, so that no hold begins between the check and the closing.
    entries.withLock { entries in
      guard !entries.isEmpty, let file = File(descriptor), entries[file] != nil else { return systemClose(descriptor) }
      if isReadable { entries[file]?.readable.append(descriptor) } else { entries[file]?.others.append(descriptor) }
      return 0
    }
  }

  private static func systemClose(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.close(descriptor)
    #elseif canImport(Musl)
      Musl.close(descriptor)
    #else
      Glibc.close(descriptor)
    #endif
  }
}
