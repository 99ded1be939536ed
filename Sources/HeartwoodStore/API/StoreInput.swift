import Synchronization

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

  /// The bytes of the file, mapped into memory: those that nobody looks at are not read. O(1).
  ///
  /// The file stays open as long as the bytes are held. A file that is replaced by another one in the meantime stays as it was; one that
  /// is written in place changes its bytes.
  public func mapped() throws(PersistenceError) -> ByteSlice {
    ByteSlice(try file.mapped().region)
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

// MARK: Lines

extension StoreInput {
  private static let chunkSize = 1 << 12
  private static let lineFeed = UInt8(ascii: "\n")

  /// Calls `body` with each line of the file, without its end. It reads the file as a whole; lines end with LF or CR LF.
  ///
  /// - Parameters:
  ///   - skipped: how many lines at the beginning to leave out.
  ///   - body: is given one line after the other.
  /// - Throws: what `body` throws, with the path and the line added; what is not a ``PersistenceError`` becomes
  ///   ``PersistenceError/Code/fileMalformed``. The same where the file is not UTF-8.
  public func forEachLine(after skipped: Int = 0, _ body: (_ line: Substring) throws -> Void) throws {
    let text = try text()
    var number = 0
    var rest = text[...]
    while !rest.isEmpty {
      let end = rest.utf8.firstIndex(of: Self.lineFeed)
      number += 1
      if number > skipped { try reading(line: number) { try body(Self.withoutEnd(rest[..<(end ?? rest.endIndex)])) } }
      rest = end.map { rest[rest.utf8.index(after: $0)...] } ?? ""
    }
  }

  /// Calls `body` with the first line of the file, without its end. It reads no more of the file than it needs.
  ///
  /// - Throws: the same as ``forEachLine(after:_:)``.
  public func withFirstLine<Result>(_ body: (_ line: Substring) throws -> Result) throws -> Result {
    var bytes: [UInt8] = []
    var chunk = try self.bytes(from: 0, count: Self.chunkSize)
    while !chunk.isEmpty, !chunk.contains(Self.lineFeed) {
      bytes += chunk
      chunk = try self.bytes(from: bytes.count, count: max(Self.chunkSize, bytes.count))
    }
    bytes += chunk.prefix { $0 != Self.lineFeed }
    let line = try Self.text(of: bytes, path: path)
    return try reading(line: 1) { try body(Self.withoutEnd(line[...])) }
  }

  private static func withoutEnd(_ line: Substring) -> Substring {
    guard line.utf8.last == UInt8(ascii: "\r") else { return line }
    return Substring(line.utf8.dropLast())
  }
}

extension StoreInput {
  /// Runs what a store does with the file. Errors that do not say which file get its path, and those that are no
  /// ``PersistenceError`` mean that the file is malformed.
  package func reading<Result>(line: Int? = nil, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error where wasWritten {
      throw PersistenceError(
        .fileChangedOnDisk,
        "The file was written while it was read.",
        recovery: .openAgain,
        context: .init(path: path),
        underlyingError: error
      )
    } catch var error as PersistenceError {
      error.context.path = error.context.path ?? path
      error.context.line = error.context.line ?? line
      throw error
    } catch {
      throw PersistenceError(
        .fileMalformed,
        "The file does not keep to its format.",
        context: .init(path: path, line: line),
        underlyingError: error
      )
    }
  }

  /// Whether somebody has written the file in place since it was opened.
  private var wasWritten: Bool {
    // try?: an error is under way, which is thrown as it is if nobody can tell.
    (try? file.status().identity).map { $0 != status.identity } ?? false
  }
}

// MARK: StoreInputMemo

/// Keeps what was made of a file for as long as it is open, so that it is made once.
package final class StoreInputMemo: Sendable {
  private let storage = Mutex<(any Sendable)?>(nil)

  init() {}

  package var value: (any Sendable)? {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }
}

// MARK: DecodedFile

/// Bytes in memory as a file to be read: what a wrapper of a store has made of a file on the disk.
package struct DecodedFile: ReadableFile {
  package let path: String
  private let bytes: ByteSlice
  private let fileStatus: FileStatus

  /// - Parameter file: the file that the bytes were made from. Its name and state are this one's.
  package init(_ bytes: ByteSlice, of file: StoreInput) {
    self.path = file.path
    self.bytes = bytes
    var status = file.status
    status.size = bytes.count
    self.fileStatus = status
  }

  package func status() throws(PersistenceError) -> FileStatus { fileStatus }

  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PersistenceError) -> Int {
    guard offset >= 0, offset < bytes.count else { return 0 }
    let count = min(buffer.count, bytes.count - offset)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.unsafeBytes[offset..<(offset + count)]))
    return count
  }

  package func mapped() throws(PersistenceError) -> FileBytes {
    if bytes.offset == 0, bytes.count == bytes.region.count { return FileBytes(bytes.region) }
    return FileBytes(ByteRegion.copying(bytes.unsafeBytes))
  }
}
