/// What a file system tells about a file.
public struct FileStatus: Sendable, Hashable {
  /// Which file it is and in which state: it differs once somebody has written or replaced the file.
  public var identity: FileIdentity
  /// The length in bytes.
  public var size: Int
  /// The permission bits.
  public var permissions: UInt32
  public var isRegularFile: Bool

  public init(identity: FileIdentity, size: Int, permissions: UInt32, isRegularFile: Bool) {
    self.identity = identity
    self.size = size
    self.permissions = permissions
    self.isRegularFile = isRegularFile
  }
}

/// A file in one state of its content, as far as a file system can tell without reading it.
public struct FileIdentity: Sendable, Hashable {
  public var device: UInt64
  public var number: UInt64
  public var size: Int
  public var modificationSeconds: Int64
  public var modificationNanoseconds: Int64

  public init(device: UInt64, number: UInt64, size: Int, modificationSeconds: Int64, modificationNanoseconds: Int64) {
    self.device = device
    self.number = number
    self.size = size
    self.modificationSeconds = modificationSeconds
    self.modificationNanoseconds = modificationNanoseconds
  }
}
