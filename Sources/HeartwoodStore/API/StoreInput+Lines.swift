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
