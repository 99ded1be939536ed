/// Bytes that are written over those of a file, where they stand.
public struct FilePatch: Sendable, Hashable {
  /// Where the first of them is written; the last must lie inside of the file.
  public let offset: Int
  /// What is written.
  public let bytes: [UInt8]

  /// Makes a patch of `bytes` from `offset` on.
  public init(offset: Int, bytes: [UInt8]) {
    self.offset = offset
    self.bytes = bytes
  }
}
