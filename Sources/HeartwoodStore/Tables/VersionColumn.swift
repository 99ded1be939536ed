/// The version of each record in a group of rows: 1 when it was inserted, and one more at each update.
package enum VersionColumn: Sendable {
  case same(UInt64)
  /// 8 bytes for each row.
  case each(ByteSlice)
}

extension VersionColumn {
  package subscript(row: Int) -> UInt64 {
    switch self {
    case .same(let version): return version
    case .each(let versions):
      precondition(row >= 0 && row < versions.count / 8, "The row is not in the table.")
      return versions.unsafeBase.loadUnaligned(fromByteOffset: row * 8, as: UInt64.self)
    }
  }
}
