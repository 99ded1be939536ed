/// The file that a store reads.
public struct StoreInput: Sendable {
  package let file: any ReadableFile
  /// What the file was when it was opened.
  public let status: FileStatus

  /// The path of the file, for error texts.
  public let path: String
  /// What a wrapper has made of the file. Copies of this share it.
  package let memo = StoreInputMemo()

  /// - Parameter path: the name that the file has or will have, where it is not the one that it was opened by.
  package init(_ file: any ReadableFile, path: String? = nil) throws(PersistenceError) {
    self.file = file
    self.path = path ?? file.path
    self.status = try file.status()
  }

  /// The length of the file in bytes.
  public var size: Int { status.size }

  /// All bytes of the file. It reads them when it is called.
  public func bytes() throws(PersistenceError) -> [UInt8] {
    try bytes(from: 0, count: size)
  }

  /// Up to `count` bytes from `offset` on; fewer where the file ends before, and none outside of it.
  public func bytes(from offset: Int, count: Int) throws(PersistenceError) -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let room = min(count, size - offset)
    var bytes = [UInt8](repeating: 0, count: room)
    var filled = 0
    var failure: PersistenceError?
    bytes.withUnsafeMutableBytes { buffer in
      do throws(PersistenceError) {
        filled = try file.read(into: buffer, at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure.locating(path: path) }
    bytes.removeLast(room - filled)
    return bytes
  }

  /// The whole file as text.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` with the offset of the first byte that is not UTF-8.
  public func text() throws(PersistenceError) -> String {
    try Self.text(of: try bytes(), path: path)
  }

  static func text(of bytes: [UInt8], path: String) throws(PersistenceError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw PersistenceError(
        .fileMalformed,
        "The file is not UTF-8 text.",
        context: .init(path: path, byteOffset: UTF8Validation.firstInvalidOffset(in: bytes))
      )
    }
    return text
  }
}
