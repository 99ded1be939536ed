package import HeartwoodModel

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// References to records, one after another: each a name of a record and the entity that it belongs to.
package struct ReferenceColumn: Sendable {
  /// How the names lie in memory and in the binary file.
  package enum Layout: UInt8, Sendable {
    /// Signed integers of 8 bytes.
    case integer = 0
    /// 16 bytes each.
    case uuid = 1
    /// Offsets and UTF-8 bytes.
    case string = 2
    /// Offsets and, for each, a byte that is one of the numbers above and then the name's bytes.
    case mixed = 3

    /// How many bytes each name has; nil where there are offsets.
    var width: Int? {
      switch self {
      case .integer: 8
      case .uuid: 16
      case .string, .mixed: nil
      }
    }
  }

  /// Which entity each reference belongs to.
  package enum Entities: Sendable {
    case same(UInt32)
    /// An ordinal of 4 bytes for each reference.
    case each(ByteSlice)
  }

  package let layout: Layout
  package let count: Int
  package let values: ByteSlice
  /// 4 bytes for each reference and one more: where its bytes begin in ``values``, and where the last one's end.
  package let offsets: ByteSlice?
  package let entities: Entities

  /// The parts must fit: `count` values, or `count` + 1 ascending offsets into them.
  package init(layout: Layout, count: Int, values: ByteSlice, offsets: ByteSlice?, entities: Entities) {
    self.layout = layout
    self.count = count
    self.values = values
    self.offsets = offsets
    self.entities = entities
  }
}

extension ReferenceColumn {
  /// The name at `index`.
  package subscript(index: Int) -> ReferenceID {
    precondition(index >= 0 && index < count, "The row is not in the table.")
    switch layout {
    case .integer: return .integer(values.unsafeBase.loadUnaligned(fromByteOffset: index * 8, as: Int64.self))
    case .uuid: return .uuid(UUID(uuid: uuidBytes(index)))
    case .string: return .string(String(decoding: bytes(index), as: UTF8.self))
    case .mixed: return Self.decodeMixed(bytes(index))
    }
  }

  /// The ordinal of the entity that the reference at `index` belongs to.
  package func entityOrdinal(_ index: Int) -> Int {
    switch entities {
    case .same(let ordinal): return Int(ordinal)
    case .each(let ordinals):
      precondition(index >= 0 && index < count, "The row is not in the table.")
      return Int(ordinals.unsafeBase.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
    }
  }

  /// The number at `index` of a column whose layout is ``Layout/integer``.
  @inline(__always)
  func number(_ index: Int) -> Int64 {
    precondition(layout == .integer && index >= 0 && index < count, "The row is not in the table.")
    return values.unsafeBase.loadUnaligned(fromByteOffset: index &* 8, as: Int64.self)
  }

  /// The 16 bytes of the UUID at `index` of a column whose layout is ``Layout/uuid``.
  @inline(__always)
  package func uuidBytes(_ index: Int) -> uuid_t {
    precondition(layout == .uuid && index >= 0 && index < count, "The row is not in the table.")
    return values.unsafeBase.loadUnaligned(fromByteOffset: index &* 16, as: uuid_t.self)
  }

  /// The bytes at `index` of a column that has offsets.
  package func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: values.unsafeBytes[range(index)])
  }

  /// Where the bytes at `index` of a column that has offsets begin and end.
  func range(_ index: Int) -> Range<Int> {
    precondition(index >= 0 && index < count, "The row is not in the table.")
    guard let offsets else { return 0..<0 }
    let start = Int(offsets.unsafeBase.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
    let end = Int(offsets.unsafeBase.loadUnaligned(fromByteOffset: index * 4 + 4, as: UInt32.self))
    return start..<end
  }

  /// The kind of the name at `index`, without reading the name.
  func kind(_ index: Int) -> StoreCapabilities.ReferenceKind {
    switch layout {
    case .integer: .integer
    case .uuid: .uuid
    case .string: .string
    case .mixed: Self.decodeMixed(bytes(index)).kind
    }
  }

  static func decodeMixed(_ bytes: UnsafeRawBufferPointer) -> ReferenceID {
    let name = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch bytes.first.flatMap(Layout.init(rawValue:)) {
    case .integer where name.count == 8: return .integer(name.loadUnaligned(as: Int64.self))
    case .uuid where name.count == 16: return .uuid(UUID(uuid: name.loadUnaligned(as: uuid_t.self)))
    default: return .string(String(decoding: name, as: UTF8.self))
    }
  }
}
