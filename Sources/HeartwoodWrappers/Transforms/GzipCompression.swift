public import HeartwoodStore

/// An atomic store whose file is compressed with gzip (RFC 1952), so that `gunzip` extracts the inner file.
///
///     try StoreRegistry.default.register(CompressedStore<CSVStore>.self)
///     try coordinator.addPersistentStore(at: URL(filePath: "todo.csv.gz"))
///
/// Any gzip file can be read, also with zeros after its end, as tapes leave them. The files that this store writes have
/// members of 1 MiB, which are compressed and expanded on all processors.
public typealias CompressedStore<Base: AtomicStore & StoreClass> = TransformedStore<Base, GzipCompression>

/// Compression with gzip (RFC 1952).
public struct GzipCompression: FileTransform {
  /// `Compressed`.
  public static let name = "Compressed"
  /// `Compressed`.
  public static let displayName = "Compressed"
  /// `gz`.
  public static let fileExtensions = ["gz"]
  /// `application/gzip`.
  public static let mimeTypes = ["application/gzip"]

  static let memberLength = 1 << 20

  let lengthLimit: Int
  private let level: Int32

  /// Makes the transform from the options ``StoreOptionKey/maximumExpandedLength`` and
  /// ``StoreOptionKey/compressionLevel``.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if the level is not from 1 to 9.
  public init(options: StoreOptions) throws {
    lengthLimit = options[.maximumExpandedLength]
    let level = options[.compressionLevel]
    guard (1...9).contains(level) else {
      throw PersistenceError(
        .valueUnsupported,
        "The compression level is \(level).",
        recovery: "Give one from 1 to 9."
      )
    }
    self.level = Int32(level)
  }

  /// Returns whether a file begins as a gzip file, and its contents as a file of the `base` type.
  public static func recognizes(prefix: [UInt8], base: any StoreClass.Type) -> Bool {
    guard prefix.starts(with: GzipMember.magic) else { return false }
    let inside = GzipMember.beginning(of: prefix)
    return base.recognizes(prefix: inside)
  }

  /// Expands the file.
  ///
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` with the offset of the member that is damaged or cut short;
  ///   ``PersistenceError/Code/valueUnsupported`` if the inner file is longer than
  ///   ``StoreOptionKey/maximumExpandedLength``.
  public func decode(_ file: StoreInput) throws -> FileBytes {
    let bytes = ByteSlice(try file.file.mapped().region)
    guard bytes.count > 0 else { throw GzipMember.cutShort(at: 0, path: file.path) }
    let members = try GzipMember.all(in: bytes.unsafeBytes, path: file.path)
    let result =
      if let lengths = members.lengths {
        try expandTogether(bytes, members.ranges, lengths, path: file.path)
      } else {
        try expandInTurn(bytes, path: file.path)
      }
    return FileBytes(result.sealed().region)
  }

  /// Expands members with lengths in their headers, on all processors.
  private func expandTogether(
    _ bytes: ByteSlice,
    _ ranges: [Range<Int>],
    _ lengths: [Int],
    path: String
  ) throws -> GrowableBytes {
    guard lengths.reduce(0, +) <= lengthLimit else { throw GzipMember.tooLong(limit: lengthLimit, path: path) }
    let expanded = try Parallel.tryMap(ranges.count) { number in
      let range = ranges[number]
      return try withExtendedLifetime(bytes) {
        let member = try GzipMember.expand(
          bytes.unsafeBytes,
          from: range.lowerBound,
          limit: lengths[number],
          orThrow: GzipMember.damaged(at: range.lowerBound, path: path),
          path: path
        )
        // No checksum covers the lengths in the header.
        guard member.end == range.upperBound, member.bytes.count == lengths[number] else {
          throw GzipMember.damaged(at: range.lowerBound, path: path)
        }
        return member.bytes
      }
    }
    let result = GrowableBytes()
    for part in expanded { result.append(part.unsafeBytes) }
    return result
  }

  /// Expands members one after the other, because the end of each is known only when it is reached.
  private func expandInTurn(_ bytes: ByteSlice, path: String) throws(PersistenceError) -> GrowableBytes {
    let result = GrowableBytes()
    var offset = 0
    while offset < bytes.count, offset == 0 || !bytes.unsafeBytes[offset...].allSatisfy({ $0 == 0 }) {
      let member = try GzipMember.expand(
        bytes.unsafeBytes,
        from: offset,
        limit: lengthLimit - result.count,
        orThrow: GzipMember.tooLong(limit: lengthLimit, path: path),
        path: path
      )
      result.append(member.bytes.unsafeBytes)
      offset = member.end
    }
    return result
  }

  /// Compresses the file, on all processors. The same input always gives the same output.
  public func encode(_ bytes: FileBytes, of base: StoreType, _ metadata: StoreMetadata, to output: StoreOutput) throws {
    let count = max(1, (bytes.region.count + Self.memberLength - 1) / Self.memberLength)
    let members = try Parallel.tryMap(count) { number in
      let start = number * Self.memberLength
      let end = min(start + Self.memberLength, bytes.region.count)
      return try GzipMember.compress(
        UnsafeRawBufferPointer(rebasing: bytes.region.unsafeBytes[start..<end]),
        level: level
      )
    }
    for member in members { try output.write(member) }
  }
}

extension StoreOptionKey<Int> {
  /// The greatest length of the inner file of a compressed file, in bytes; 16 GiB by default. A small file can expand
  /// to a very long one.
  public static let maximumExpandedLength = StoreOptionKey("maximumExpandedLength", default: 16 << 30)
  /// The compression level of a compressed store, from 1 (fastest) to 9 (smallest); 6 by default.
  public static let compressionLevel = StoreOptionKey("compressionLevel", default: 6)
}

// MARK: GzipSalvage

/// Expands the undamaged members of a damaged file.
struct GzipSalvage {
  private let bytes: ByteSlice
  private let lengthLimit: Int
  private let output = GrowableBytes()
  private var unsoundRanges: [Range<Int>] = []
  private var losses: [SalvageReport.Loss] = []

  init(_ bytes: ByteSlice, lengthLimit: Int) {
    self.bytes = bytes
    self.lengthLimit = lengthLimit
  }

  mutating func run(path: String) throws(PersistenceError) -> SoundBytes {
    var offset: Int? = 0
    while let start = offset, start < bytes.count {
      guard start == 0 || !bytes.unsafeBytes[start...].allSatisfy({ $0 == 0 }) else { break }
      offset = try takeMember(at: start, path: path)
    }
    return SoundBytes(FileBytes(output.sealed().region), unsoundRanges: unsoundRanges, losses: losses)
  }

  /// Expands the undamaged part of a member, and returns where the next one begins, or nil if that is unknown.
  private mutating func takeMember(at start: Int, path: String) throws(PersistenceError) -> Int? {
    let own = GzipMember.ownLengths(in: bytes.unsafeBytes, at: start)
    let member = GzipMember.expandSound(bytes.unsafeBytes, from: start, limit: lengthLimit - output.count)
    if member.ending == .tooLong { throw GzipMember.tooLong(limit: lengthLimit, path: path) }
    if member.ending == .whole {
      output.append(member.bytes.unsafeBytes)
      if let own, own.length != member.end - start || own.content != member.bytes.count {
        note(start..<member.end, "The lengths in the header of a compressed part are changed; its checksum holds.")
      }
      return member.end
    }
    let next = nextMember(behind: start, own)
    let range = start..<(next ?? bytes.count)
    if member.ending == .cutShort, next == nil {
      output.append(member.bytes.unsafeBytes)
      note(range, "The compressed file was cut short here: what could still be expanded was taken.", count: nil)
    } else if let count = lostCount(own, next) {
      unsoundRanges.append(output.count..<(output.count + count))
      output.append(repeating: 0, count: count)
      note(
        range,
        "The compressed bytes were changed since they were written: \(count) bytes of the file inside are lost."
      )
    } else if start == 0 {
      takeUnchecked(member.bytes, range)
    } else {
      note(range, "The compressed bytes were changed since they were written.")
    }
    return next
  }

  /// Returns the length of the contents of a damaged member that Heartwood wrote: the length in its header, or the
  /// length of all members except the last. Nil if that is unknown.
  private func lostCount(_ own: (length: Int, content: Int)?, _ next: Int?) -> Int? {
    if next != nil { return GzipCompression.memberLength }
    return own.flatMap { $0.content <= GzipCompression.memberLength ? $0.content : nil }
  }

  /// Adds the bytes that could be expanded from a file of another program, which has one member with a checksum at its
  /// end.
  private mutating func takeUnchecked(_ expanded: ByteSlice, _ range: Range<Int>) {
    output.append(expanded.unsafeBytes)
    note(
      range,
      "The compressed bytes were changed since they were written. What could be expanded, \(expanded.count) bytes, was taken; no checksum "
        + "tells whether all of them are as they were."
    )
  }

  private func nextMember(behind start: Int, _ own: (length: Int, content: Int)?) -> Int? {
    if let own, own.length < bytes.count - start,
      GzipMember.ownLengths(in: bytes.unsafeBytes, at: start + own.length) != nil
    {
      return start + own.length
    }
    return GzipMember.nextOwn(in: bytes.unsafeBytes, from: start + 1)
  }

  /// - Parameter count: the number of lost bytes; nil if it is unknown.
  private mutating func note(_ range: Range<Int>, _ reason: String, count: Int? = 0) {
    losses.append(.init(.fileParts, count: count, byteRange: range, reason: reason))
  }
}

extension GzipCompression {
  /// Expands the undamaged parts. In a file that Heartwood wrote, each member has its own checksum, so only the
  /// contents of damaged members are lost. In a file that another program compressed, everything after the damage is
  /// lost.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if the inner file is longer than
  ///   ``StoreOptionKey/maximumExpandedLength``.
  public func decodeSound(_ file: StoreInput) throws -> SoundBytes {
    var salvage = GzipSalvage(ByteSlice(try file.file.mapped().region), lengthLimit: lengthLimit)
    let sound = try salvage.run(path: file.path)
    guard sound.bytes.region.count > 0 else { throw GzipMember.damaged(at: 0, path: file.path) }
    return sound
  }
}
