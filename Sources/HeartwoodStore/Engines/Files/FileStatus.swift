/// What a file system tells about a file.
public struct FileStatus: Sendable, Hashable {
  /// Which file it is and in which state: it differs once somebody has written or replaced the file.
  public var identity: FileIdentity
  /// The length in bytes.
  public var size: Int
  /// The permission bits.
  public var permissions: UInt32
  /// Whether it is a file, and not a folder or a device.
  public var isRegularFile: Bool

  /// Makes a status of what a file system tells.
  public init(identity: FileIdentity, size: Int, permissions: UInt32, isRegularFile: Bool) {
    self.identity = identity
    self.size = size
    self.permissions = permissions
    self.isRegularFile = isRegularFile
  }
}

/// A file in one state of its content, as far as a file system can tell without reading it.
public struct FileIdentity: Sendable, Hashable {
  /// The number of the device that the file is on.
  public var device: UInt64
  /// The file's number on its device.
  public var number: UInt64
  /// The length in bytes.
  public var size: Int
  /// When the content was last changed, in seconds since 1970.
  public var modificationSeconds: Int64
  /// The part of a second that belongs to ``modificationSeconds``.
  public var modificationNanoseconds: Int64

  /// Makes an identity of what a file system tells.
  public init(device: UInt64, number: UInt64, size: Int, modificationSeconds: Int64, modificationNanoseconds: Int64) {
    self.device = device
    self.number = number
    self.size = size
    self.modificationSeconds = modificationSeconds
    self.modificationNanoseconds = modificationNanoseconds
  }

  /// Whether both are one file, in whatever state of its content.
  public func isSameFile(as other: FileIdentity) -> Bool {
    device == other.device && number == other.number
  }
}
