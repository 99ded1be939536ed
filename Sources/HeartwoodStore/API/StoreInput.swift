import Synchronization

/// A file that a store reads. All reading methods can be called from any thread.
///
///     let header = try file.bytes(from: 0, count: 16)
///     try file.forEachLine { line in … }
public struct StoreInput: Sendable {
  package let file: any ReadableFile
  /// The size, the identity and other properties of the file when it was opened.
  public let status: FileStatus

  /// The path of the file, for error texts.
  public let path: String
  /// What a wrapper has made from the file. Copies of this value share it.
  package let memo = StoreInputMemo()

  /// Makes an input of an open file.
  ///
  ///     let input = try StoreInput(try POSIXFileSystem().openFile(atPath: path))
  ///
  /// - Parameter path: the name that the file has or will have, if it was opened by another one.
  /// - Throws: ``PersistenceError/Code/fileReadFailed`` if its status cannot be read.
  public init(_ file: any ReadableFile, path: String? = nil) throws(PersistenceError) {
    self.file = file
    self.path = path ?? file.path
    self.status = try file.status()
  }

  /// The length of the file in bytes when it was opened.
  public var size: Int { status.size }

  /// Reads all bytes of the file into memory. Large files are better read with ``mapped()``.
  public func bytes() throws(PersistenceError) -> [UInt8] {
    try bytes(from: 0, count: size)
  }

  /// Reads up to `count` bytes from `offset` on: fewer if the file ends before, and none outside of the file.
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

  /// Maps the file into memory, and returns its bytes. Bytes that are not accessed are not read. O(1).
  ///
  /// The file stays open as long as the bytes are held. If the file is replaced by another one meanwhile, the bytes
  /// stay as they were; if it is written in place, they change.
  public func mapped() throws(PersistenceError) -> ByteSlice {
    ByteSlice(try file.mapped().region)
  }

  /// Reads the whole file as text.
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

  /// Calls `body` with each line of the file, without its line ending (LF or CR LF). It reads the whole file into
  /// memory.
  ///
  /// - Parameters:
  ///   - skipped: the number of lines at the beginning to skip.
  ///   - body: gets the lines one after the other.
  /// - Throws: errors of `body`, with the path and the line added; an error that is not a ``PersistenceError`` becomes
  ///   ``PersistenceError/Code/fileMalformed``, as does a file that is not UTF-8.
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

  /// Calls `body` with the first line of the file, without its line ending. It reads no more of the file than it needs.
  ///
  /// - Throws: the same errors as ``forEachLine(after:_:)``.
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
  /// Calls `body`, which reads the file. Errors without a path get that of the file, and an error that is not a
  /// ``PersistenceError`` becomes ``PersistenceError/Code/fileMalformed``.
  package func reading<Result>(line: Int? = nil, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error where wasWritten {
      throw PersistenceError(
        .fileChangedOnDisk,
        "The file was changed while it was being read.",
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
        "The file does not conform to its format.",
        context: .init(path: path, line: line),
        underlyingError: error
      )
    }
  }

  /// Whether another program has written the file in place since it was opened.
  private var wasWritten: Bool {
    // try?: an error is being thrown already, and is thrown as it is if the state of the file is unknown.
    (try? file.status().identity).map { $0 != status.identity } ?? false
  }
}

// MARK: StoreInputMemo

/// Keeps a value that was made from a file for as long as the file is open, so that it is made once.
package final class StoreInputMemo: Sendable {
  private let storage = Mutex<(any Sendable)?>(nil)

  init() {}

  package var value: (any Sendable)? {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }
}

// MARK: DecodedFile

/// A file whose bytes are in memory: what a wrapper of a store has made from a file on the disk.
package struct DecodedFile: ReadableFile {
  package let path: String
  private let bytes: ByteSlice
  private let fileStatus: FileStatus

  /// - Parameter file: the file that the bytes were made from. This file gets its name and state.
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
