extension NodeTable {
  /// How many bytes the records take in memory, those of a mapped file included. O(groups).
  package var byteCount: Int { groups.reduce(0) { $0 + $1.byteCount } }
}

extension RowGroup {
  fileprivate var byteCount: Int {
    columns.reduce(references.byteCount + versions.byteCount + (liveness?.bytes.count ?? 0)) { $0 + $1.byteCount }
  }
}

extension Column {
  fileprivate var byteCount: Int {
    (validity?.bytes.count ?? 0) + (offsets?.count ?? 0) + values.count + (references?.byteCount ?? 0)
  }
}

extension ReferenceColumn {
  fileprivate var byteCount: Int {
    let names = values.count + (offsets?.count ?? 0)
    return if case .each(let ordinals) = entities { names + ordinals.count } else { names }
  }
}

extension VersionColumn {
  fileprivate var byteCount: Int {
    if case .each(let versions) = self { versions.count } else { 0 }
  }
}
