import HeartwoodFoundation
import HeartwoodModel

extension StoreOptionKey<String?> {
  /// The attribute in which a conversion keeps the references of records, for the way through a store that numbers its records.
  ///
  ///     let numbered = try coordinator.convert(csv, to: sqliteURL, options: [.referenceAttribute: "uuid"])
  ///     try coordinator.convert(numbered, to: csvURL, options: [.referenceAttribute: "uuid"])
  ///
  /// If the new store calls its records by numbers of its own, as SQLite does, each record's attribute gets the reference, unless it has that
  /// value already. If the new store can call records by any reference, those whose attribute has a value get it as their reference. Entities
  /// without such an attribute are converted as ever. The attribute is a UUID, a string (which holds any reference as
  /// `ReferenceID.text`) or an integer, and may be of a superentity.
  ///
  /// A conversion fails with ``PersistenceError/Code/valueUnsupported`` if the attribute has another value or cannot hold a reference, with
  /// ``PersistenceError/Code/duplicateReference`` if two records have the same value, and with
  /// ``PersistenceError/Code/propertyUnknown`` if no entity has such an attribute.
  public static let referenceAttribute = StoreOptionKey("referenceAttribute")
}

/// The references of records, stored in an attribute or taken from it.
struct KeptReferences {
  private let attributeName: String
  private let contents: StoreContents

  /// - Throws: ``PersistenceError/Code/propertyUnknown`` if no entity has such an attribute that can hold references.
  init(in attributeName: String, of contents: StoreContents) throws(PersistenceError) {
    self.attributeName = attributeName
    self.contents = contents
    guard contents.entities.contains(where: { ordinal(in: $0) != nil }) else {
      throw PersistenceError(
        .propertyUnknown,
        "No entity has an attribute “\(attributeName)” of type UUID, string or integer, so references cannot be kept there.",
        recovery: "Name an attribute that the model has, or add one to the model first.",
        context: .init(property: attributeName)
      )
    }
  }

  /// Returns the index of the attribute among the properties of `entity`; nil if it has none that can hold references.
  private func ordinal(in entity: EntityDescription) -> Int? {
    guard let ordinal = entity.ordinal(ofProperty: attributeName) else { return nil }
    switch entity.properties[ordinal].attribute?.type {
    case .uuid, .string, .integer16, .integer32, .integer64:
      return entity.properties[ordinal].isTransient ? nil : ordinal
    default: return nil
    }
  }

  /// Returns the same records for a store whose references are of one of `kinds`. O(records).
  func contents(for kinds: [StoreCapabilities.ReferenceKind]) throws -> StoreContents {
    kinds == [.integer] ? try keeping() : try taking(kinds)
  }

  private func id(_ group: RowGroup, _ row: Int, _ entity: EntityDescription) -> ManagedObjectID {
    contents.objectID(group.references[row], of: entity)
  }
}

// MARK: Keeping

extension KeptReferences {
  /// Returns the same records, with their references stored in the attribute.
  private func keeping() throws(PersistenceError) -> StoreContents {
    var kept = contents
    for (place, table) in contents.tables.enumerated() where table.count > 0 {
      guard let ordinal = ordinal(in: table.entity) else { continue }
      var groups: [RowGroup] = []
      for group in table.groups { groups.append(try keeping(group, ordinal, table.entity)) }
      kept.tables[place] = NodeTable(entity: table.entity, groups: groups)
    }
    return kept
  }

  private func keeping(
    _ group: RowGroup,
    _ ordinal: Int,
    _ entity: EntityDescription
  ) throws(PersistenceError) -> RowGroup {
    let column = group.columns[ordinal]
    let builder = ColumnBuilder(kind: ColumnKind(entity.properties[ordinal]))
    for row in 0..<group.rowCount {
      if !group.isLive(row) {
        builder.appendNull()
      } else if try needsReference(group, row, ordinal, entity) {
        try append(group.references[row], to: builder, id(group, row, entity))
      } else {
        builder.append(row..<(row + 1), of: column)
      }
    }
    var columns = group.columns
    columns[ordinal] = builder.sealed()
    return RowGroup(
      references: group.references,
      versions: group.versions,
      columns: columns,
      liveness: group.liveness
    )
  }

  /// Returns whether to store the record's reference in its attribute. A number that a store assigned is not stored if
  /// the attribute has a value.
  private func needsReference(
    _ group: RowGroup,
    _ row: Int,
    _ ordinal: Int,
    _ entity: EntityDescription
  ) throws(PersistenceError) -> Bool {
    guard let value = reference(in: group, row, ordinal) else { return true }
    let own = group.references[row]
    if value == own || own.kind == .integer { return false }
    throw PersistenceError(
      .valueUnsupported,
      "The reference of the record is \(own.text), and its attribute “\(attributeName)” has the value \(value.text) already.",
      recovery: "Keep the references in another attribute.",
      context: .init(entity: entity.name, property: attributeName, objectIDs: [id(group, row, entity)])
    )
  }

  private func append(
    _ reference: ReferenceID,
    to builder: ColumnBuilder,
    _ id: ManagedObjectID
  ) throws(PersistenceError) {
    switch (builder.kind, reference) {
    case (.uuid, .uuid(let uuid)): builder.append(uuid: uuid.uuid)
    case (.bytes, _):
      var text = reference.text
      text.withUTF8 { builder.append(bytes: UnsafeRawBufferPointer($0)) }
    case (.int64, .integer(let number)): builder.append(integer: number)
    case (.int32, .integer(let number)) where Int32(exactly: number) != nil: builder.append(integer: number)
    case (.int16, .integer(let number)) where Int16(exactly: number) != nil: builder.append(integer: number)
    default:
      throw PersistenceError(
        .valueUnsupported,
        "The reference of the record is \(reference.text), which the attribute “\(attributeName)” cannot hold.",
        recovery: "Keep the references in an attribute of type string.",
        context: .init(entity: id.entity.name, property: attributeName, objectIDs: [id])
      )
    }
  }
}

// MARK: Taking

extension KeptReferences {
  /// Returns the same records; those whose attribute has a value get it as their reference.
  private func taking(_ kinds: [StoreCapabilities.ReferenceKind]) throws -> StoreContents {
    var taken: [String: [ReferenceID: ManagedObjectID]] = [:]
    var isChanged = false
    var names: [Int: [ReferenceID]] = [:]
    for table in contents.tables where table.count > 0 {
      let ordinal = ordinal(in: table.entity)
      var own: [ReferenceID] = []
      for group in table.groups {
        for row in 0..<group.rowCount {
          let former = group.references[row]
          let kept = group.isLive(row) ? ordinal.flatMap { reference(in: group, row, $0) } : nil
          let name = kept.flatMap { kinds.contains($0.kind) ? $0 : nil } ?? former
          if group.isLive(row) {
            let id = id(group, row, table.entity)
            let other = taken[table.entity.rootEntity.name, default: [:]].updateValue(id, forKey: name)
            if let other { throw duplicate(name, [other, id]) }
          }
          if name != former { isChanged = true }
          own.append(name)
        }
      }
      names[table.entity.ordinal] = own
    }
    guard isChanged else { return contents }
    if let history = contents.history, history.transactionCount > 0 { throw historyNamesRecords() }
    var renamed = try contents.renamed(keepsMissing: true) { _, entity in names[entity.ordinal] ?? [] }
    renamed.hasNewReferences = true
    return renamed
  }

  private func duplicate(_ name: ReferenceID, _ ids: [ManagedObjectID]) -> PersistenceError {
    PersistenceError(
      .duplicateReference,
      "Two records would have the reference \(name.text), the value of their attribute “\(attributeName)”.",
      recovery: "Give one of them another value, or take the references from another attribute.",
      context: .init(entity: ids[0].entity.name, property: attributeName, objectIDs: ids)
    )
  }

  private func historyNamesRecords() -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "The store has a history, which contains the references of the records.",
      recovery: "Leave the history out: set tracksPersistentHistory to false for the new store.",
      context: .init(property: attributeName)
    )
  }

  /// Returns the reference that a record's attribute holds; nil if it has no value.
  private func reference(in group: RowGroup, _ row: Int, _ ordinal: Int) -> ReferenceID? {
    let view = group.unsafeViews[ordinal]
    if view.kind == .absent || view.unsafeIsNull(row) { return nil }
    switch view.kind {
    case .uuid: return .uuid(view.unsafeUUID(row))
    case .int16, .int32, .int64: return .integer(view.unsafeInteger(row))
    case .bytes: return ReferenceID(text: String(decoding: view.unsafeBytes(row), as: UTF8.self))
    default: return nil
    }
  }
}
