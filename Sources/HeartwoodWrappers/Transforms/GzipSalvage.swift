public import HeartwoodStore

/// Expands the members of a damaged file that can be expanded.
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

  /// Takes what is sound of a member, and returns where the next one begins; nil if nobody knows.
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

  /// How many bytes are in a damaged member that was written here: as it says, or as all but the last have. Nil if nobody knows.
  private func lostCount(_ own: (length: Int, content: Int)?, _ next: Int?) -> Int? {
    if next != nil { return GzipCompression.memberLength }
    return own.flatMap { $0.content <= GzipCompression.memberLength ? $0.content : nil }
  }

  /// Takes what could be expanded of a member that others have written, which are of one member and have one checksum at their end.
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

  /// - Parameter count: nil if nobody knows how much was in it.
  private mutating func note(_ range: Range<Int>, _ reason: String, count: Int? = 0) {
    losses.append(.init(.fileParts, count: count, byteRange: range, reason: reason))
  }
}

extension GzipCompression {
  /// Expands what can be expanded: the members of a file that was written here have checksums of their own, so that a damaged one costs what is in
  /// it. Of a file that others have compressed, it is what comes before the damage.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if there is more than ``StoreOptionKey/maximumExpandedLength``.
  public func decodeSound(_ file: StoreInput) throws -> SoundBytes {
    var salvage = GzipSalvage(ByteSlice(try file.file.mapped().region), lengthLimit: lengthLimit)
    let sound = try salvage.run(path: file.path)
    guard sound.bytes.region.count > 0 else { throw GzipMember.damaged(at: 0, path: file.path) }
    return sound
  }
}
