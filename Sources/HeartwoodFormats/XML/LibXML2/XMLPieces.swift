import HeartwoodStore

/// The possible records in a damaged XML document, found by their tags alone and read piece by piece: a fault in one
/// piece does not affect the others.
///
/// In XML, a `<` always begins a tag, so tags are found wherever the document is damaged.
///
/// An unsafe place: ``file`` holds the bytes, and every place is compared with their count.
struct XMLPieces {
  /// A part of the document that may be a record.
  struct Piece {
    var range: Range<Int>
    /// The place of the record's entity, if it follows from the text around the piece.
    var entity: Int?
  }

  private static let mostPieces = 256
  private static let fewPieces = 8
  private static let greatestBatch = 1 << 20

  private let file: StoreInput
  private let salvage: StoreSalvage
  let region: ByteRegion
  private var lineStart: (offset: Int, line: Int) = (0, 1)
  private var loss: (start: Int, error: any Error)?

  init(_ file: StoreInput, into salvage: StoreSalvage) throws(PersistenceError) {
    self.file = file
    self.salvage = salvage
    region = try file.file.mapped().region
  }

  var bytes: UnsafeRawBufferPointer { region.unsafeBytes }

  /// Describes how the documents of a store consist of pieces.
  struct Form {
    /// Returns the text before pieces of one entity that are read by themselves.
    let prefix: (Piece) -> [UInt8]
    /// The text after them.
    let suffix: [UInt8]
    /// The tag with which the document ends.
    let end: StaticString
    /// Finds the first piece that begins at a place or later.
    let next: (Int) -> Piece?
  }

  /// Reads all pieces from a place on.
  ///
  /// - Parameters:
  ///   - read: reads the records of pieces of one entity, all or none.
  ///   - gap: called with the parts between pieces that were read.
  mutating func run(
    _ form: Form,
    from start: Int,
    read: (_ document: StoreInput, _ pieces: [Piece]) throws -> Void,
    gap: (Range<Int>) -> Void
  ) {
    var (position, soundEnd, size) = (start, start, Self.mostPieces)
    while true {
      let pieces = batch(from: position, size: size, form.next)
      guard !pieces.isEmpty else { break }
      if fault(pieces, form, read) == nil {
        pass(pieces, &position, gap)
        size = min(size * 2, Self.mostPieces)
      } else {
        size = Self.fewPieces
        for piece in pieces {
          guard let error = fault([piece], form, read) else {
            pass([piece], &position, gap)
            continue
          }
          if loss == nil { gap(position..<piece.range.lowerBound) }
          loss = loss ?? (piece.range.lowerBound, error)
          // If its end is missing, the piece may contain others.
          position = piece.range.lowerBound + 1
          break
        }
      }
      if loss == nil { soundEnd = position }
    }
    if !closeLoss(at: bytes.count) { gap(position..<bytes.count) }
    noteEnd(form, soundEnd)
  }

  /// Moves to the end of pieces that were read.
  private mutating func pass(_ pieces: [Piece], _ position: inout Int, _ gap: (Range<Int>) -> Void) {
    guard let first = pieces.first, let last = pieces.last else { return }
    if !closeLoss(at: first.range.lowerBound) { gap(position..<first.range.lowerBound) }
    position = last.range.upperBound
  }

  /// Returns the fault of pieces; nil if they were read.
  private func fault(
    _ pieces: [Piece],
    _ form: Form,
    _ read: (_ document: StoreInput, _ pieces: [Piece]) throws -> Void
  ) -> (any Error)? {
    do {
      guard !pieces.contains(where: { salvage.isUnsound($0.range) }) else { throw unsound }
      try read(try document(pieces, form), pieces)
      return nil
    } catch {
      return error
    }
  }

  private mutating func noteEnd(_ form: Form, _ soundEnd: Int) {
    guard find(form.end, from: soundEnd) == nil else { return }
    let error = PersistenceError(.fileMalformed, "The file is incomplete: what followed is lost.")
    note(.records, error, count: nil, soundEnd..<bytes.count)
  }

  private var unsound: PersistenceError {
    PersistenceError(.fileCorrupt, "The bytes of the record were changed or are missing.")
  }

  private func batch(from start: Int, size: Int, _ next: (Int) -> Piece?) -> [Piece] {
    var (pieces, position): ([Piece], Int) = ([], start)
    while pieces.count < size, position - start < Self.greatestBatch, let piece = next(position),
      pieces.isEmpty || piece.entity == pieces[0].entity
    {
      pieces.append(piece)
      position = piece.range.upperBound
    }
    return pieces
  }

  /// Returns a document that consists of pieces only.
  private func document(_ pieces: [Piece], _ form: Form) throws(PersistenceError) -> StoreInput {
    let document = GrowableBytes()
    if let first = pieces.first { form.prefix(first).withUnsafeBytes { document.append($0) } }
    for piece in pieces { document.append(UnsafeRawBufferPointer(rebasing: bytes[piece.range])) }
    form.suffix.withUnsafeBytes { document.append($0) }
    return try StoreInput(DecodedFile(document.sealed(), of: file))
  }

  /// Notes the record that began before `end` and could not be read. Returns false if there is none.
  private mutating func closeLoss(at end: Int) -> Bool {
    guard let loss = loss.take() else { return false }
    // If bytes are missing, the number of records in them is unknown.
    note(.records, loss.error, count: salvage.isUnsound(loss.start..<end) ? nil : 1, loss.start..<end)
    return true
  }
}

// MARK: Telling

extension XMLPieces {
  /// Notes a part of the file, with its line.
  mutating func note(
    _ kind: SalvageReport.Loss.Kind,
    _ error: any Error,
    count: Int?,
    _ range: Range<Int>
  ) {
    var loss = SalvageReport.Loss(kind, error, count: count, byteRange: range)
    // An error in a document of pieces contains the line in that document.
    loss.line = line(of: range.lowerBound)
    salvage.note(loss)
  }

  private mutating func line(of offset: Int) -> Int {
    if offset < lineStart.offset { lineStart = (0, 1) }
    let passed = UnsafeRawBufferPointer(
      rebasing: bytes[lineStart.offset..<max(lineStart.offset, min(offset, bytes.count))]
    )
    lineStart = (lineStart.offset + passed.count, lineStart.line + passed.count { $0 == UInt8(ascii: "\n") })
    return lineStart.line
  }
}

// MARK: Finding

extension XMLPieces {
  /// Returns the first place from `start` on of `text`, which begins with a `<`.
  func find(_ text: StaticString, from start: Int, before end: Int? = nil) -> Int? {
    let end = min(end ?? bytes.count, bytes.count)
    var position = start
    while let place = nextTag(from: position, before: end) {
      if has(text, at: place) { return place }
      position = place + 1
    }
    return nil
  }

  /// Returns the place of the next `<`.
  func nextTag(from start: Int, before end: Int? = nil) -> Int? {
    let end = min(end ?? bytes.count, bytes.count)
    guard start < end else { return nil }
    return bytes[start..<end].firstIndex(of: UInt8(ascii: "<"))
  }

  func has(_ text: StaticString, at place: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    guard place + count <= bytes.count else { return false }
    return text.withUTF8Buffer { text in (0..<count).allSatisfy { bytes[place + $0] == text[$0] } }
  }

  /// Returns how many times `text`, which begins with a `<`, occurs in a part.
  func count(of text: StaticString, in range: Range<Int>) -> Int {
    var (count, position) = (0, range.lowerBound)
    while let place = find(text, from: position, before: range.upperBound) {
      count += 1
      position = place + 1
    }
    return count
  }

  /// Returns whether the part is only white space.
  func isBlank(_ range: Range<Int>) -> Bool {
    bytes[range].allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
  }
}
