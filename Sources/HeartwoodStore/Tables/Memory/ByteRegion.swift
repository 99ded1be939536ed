#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Bytes that never change and never move, owned by the heap or mapped from a file.
///
/// `@unchecked Sendable`: the bytes are not written to once the region exists, and they are freed with the last
/// reference.
package final class ByteRegion: @unchecked Sendable {
  private enum Origin {
    case heap
    case mapping
  }

  private let base: UnsafeRawPointer
  package let count: Int
  private let origin: Origin

  private init(base: UnsafeRawPointer, count: Int, origin: Origin) {
    self.base = base
    self.count = count
    self.origin = origin
  }

  deinit {
    switch origin {
    case .heap: free(UnsafeMutableRawPointer(mutating: base))
    case .mapping: munmap(UnsafeMutableRawPointer(mutating: base), count)
    }
  }

  /// The bytes, valid as long as the region is.
  package var unsafeBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Releases the memory of the pages of a mapped file that have been read: the system reads them again on the next
  /// access. Bytes on the heap stay where they are.
  package func releaseResidentPages() {
    // A mapping is never written to, so the system reads the same bytes from the file again.
    guard origin == .mapping, count > 0 else { return }
    madvise(UnsafeMutableRawPointer(mutating: base), count, MADV_DONTNEED)
  }
}

extension ByteRegion {
  /// Takes over `count` bytes that `malloc` returned.
  package static func unsafeAdopting(heap base: UnsafeMutableRawPointer, count: Int) -> ByteRegion {
    ByteRegion(base: UnsafeRawPointer(base), count: count, origin: .heap)
  }

  /// Takes over a mapping of `count` bytes that `mmap` returned.
  static func unsafeAdopting(mapping base: UnsafeMutableRawPointer, count: Int) -> ByteRegion {
    ByteRegion(base: UnsafeRawPointer(base), count: count, origin: .mapping)
  }

  /// Returns a copy of `bytes`.
  package static func copying(_ bytes: UnsafeRawBufferPointer) -> ByteRegion {
    let buffer = GrowableBytes(capacity: bytes.count)
    buffer.append(bytes)
    return buffer.sealed().region
  }
}

// MARK: ByteSlice

/// An immutable part of bytes on the heap or in a mapped file. A copy is O(1) and shares them.
///
///     let file = try input.mapped()
///     guard let head = file.slice(from: 0, count: 8) else { throw … }
///     let magic = head.withBytes { bytes in bytes.unsafeLoadUnaligned(as: UInt64.self) }
public struct ByteSlice: Sendable {
  package let region: ByteRegion
  package let offset: Int
  /// The number of bytes.
  public let count: Int

  /// Makes a slice of the whole of `region`.
  package init(_ region: ByteRegion) {
    self.region = region
    self.offset = 0
    self.count = region.count
  }

  /// Makes a slice of the `count` bytes of `region` from `offset` on, or returns nil if the region has no such bytes.
  package init?(_ region: ByteRegion, offset: Int, count: Int) {
    guard offset >= 0, count >= 0, offset <= region.count, count <= region.count - offset else { return nil }
    self.region = region
    self.offset = offset
    self.count = count
  }

  /// The bytes, valid as long as the region is.
  package var unsafeBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: region.unsafeBytes[offset..<(offset + count)])
  }

  /// The address of the first byte. An empty slice has an address too, which must not be read.
  package var unsafeBase: UnsafeRawPointer { region.unsafeBytes.baseAddress.unsafelyUnwrapped + offset }

  /// No bytes.
  public static let empty = ByteSlice(ByteRegion.copying(UnsafeRawBufferPointer(start: nil, count: 0)))
}

extension ByteSlice {
  /// Makes a copy of `bytes`.
  public init(_ bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { ByteSlice(ByteRegion.copying($0)) }
  }

  /// Returns the `count` bytes from `offset` on, or nil if there are no such bytes. O(1).
  public func slice(from offset: Int, count: Int) -> ByteSlice? {
    guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
    return ByteSlice(region, offset: self.offset + offset, count: count)
  }

  /// Calls `body` with the bytes. Reading bytes of a mapped file reads the file.
  public func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The region exists as long as this slice, and its bytes are never written to.
    defer { withExtendedLifetime(region) {} }
    return try body(RawSpan(_unsafeBytes: unsafeBytes))
  }

  /// The bytes as an array. O(n).
  public var array: [UInt8] { [UInt8](unsafeBytes) }

  /// A hash for detecting damaged bytes: XXH64 with the seed 0. It detects accidents, and is no defence against
  /// forgery. O(n).
  public var checksum: UInt64 { XXH64.hash(self) }
}

// MARK: ByteSpan

/// A range of bytes.
package struct ByteSpan: BitwiseCopyable {
  var start: UInt32
  var end: UInt32

  @inline(__always)
  package init(start: UInt32, end: UInt32) {
    self.start = start
    self.end = end
  }
}
