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

  /// Appends the versions of the first `rowCount` rows to `bytes`.
  func append(rowCount: Int, to bytes: GrowableBytes) {
    switch self {
    case .same(let version): for _ in 0..<rowCount { bytes.append(version) }
    case .each(let versions): bytes.append(UnsafeRawBufferPointer(rebasing: versions.unsafeBytes[..<(rowCount * 8)]))
    }
  }

  /// The versions with those of `rows`, which ascend, one higher.
  func raising(_ rows: [UInt16], rowCount: Int) -> VersionColumn {
    if rows.count == rowCount, case .same(let version) = self { return .same(Self.next(version)) }
    let raised = GrowableBytes(capacity: rowCount * 8)
    append(rowCount: rowCount, to: raised)
    for row in rows {
      raised.unsafeMutableBytes.storeBytes(of: Self.next(self[Int(row)]), toByteOffset: Int(row) * 8, as: UInt64.self)
    }
    return .each(raised.sealed())
  }

  /// The version that follows another one. A file may claim the highest that a store keeps, and that is followed by the first.
  private static func next(_ version: UInt64) -> UInt64 { version < UInt64(Int64.max) ? version + 1 : 1 }

  /// The versions with that of `rows` replaced.
  func setting(_ version: UInt64, in rows: [Int], rowCount: Int) -> VersionColumn {
    let versions = GrowableBytes(capacity: rowCount * 8)
    append(rowCount: rowCount, to: versions)
    for row in rows {
      versions.unsafeMutableBytes.storeBytes(of: version, toByteOffset: row * 8, as: UInt64.self)
    }
    return .each(versions.sealed())
  }
}
