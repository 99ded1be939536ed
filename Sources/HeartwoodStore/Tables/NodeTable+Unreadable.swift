package import HeartwoodModel

extension NodeTable {
  /// Refuses a table whose records have values that could not be read. O(groups and properties).
  package func checkReadable() throws(PersistenceError) {
    for group in groups {
      for column in group.columns { try column.checkReadable(in: group) }
    }
  }

  /// Refuses a table whose records have values of one property that could not be read. O(groups).
  package func checkReadable(_ ordinal: Int) throws(PersistenceError) {
    for group in groups { try group.columns[ordinal].checkReadable(in: group) }
  }
}

extension Column {
  fileprivate func checkReadable(in group: RowGroup) throws(PersistenceError) {
    if let error = unreadable?.first(where: group.isLive) { throw error }
  }
}

extension StoreContents {
  /// Refuses contents some of which could not be read: they must not be taken for all that there is.
  package func checkReadable() throws(PersistenceError) {
    for table in tables { try table.checkReadable() }
  }
}

extension QueryTables {
  /// Refuses to evaluate properties of which some records have values that could not be read.
  package func checkReadable(_ properties: Set<PlanProperty>) throws(PersistenceError) {
    for property in properties {
      for table in tables {
        guard let table, table.entity.properties.indices.contains(property.ordinal),
          table.entity.traits[property.ordinal].attributeType == property.attributeType
        else { continue }
        try table.checkReadable(property.ordinal)
      }
    }
  }
}
