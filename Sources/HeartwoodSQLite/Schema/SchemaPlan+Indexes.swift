import HeartwoodModel

/// The indexes, in the order in which Core Data makes them.
extension SchemaPlan {
  var indexes: [SQLiteIndex] {
    var names = UniqueNames(reserved: tables.map(\.name) + joins.map(\.name))
    return tables.flatMap { table in
      relationshipIndexes(table, &names) + joinIndexes(table, &names) + declaredIndexes(table, &names)
    }
  }

  private func relationshipIndexes(_ table: Table, _ names: inout UniqueNames) -> [SQLiteIndex] {
    var columns = table.columns.filter { column in
      switch column.role {
      case .value(let slot): relationship(slot) != nil
      case .owner: true
      case .row, .entity, .order, .ownerOrder: false
      }
    }.map(\.name)
    if forest.hasSubentities(table.root) { columns.append(SQLiteName.entity) }
    return columns.map { column in
      SQLiteIndex(
        name: names.unique("\(table.name)_\(column)_INDEX"),
        tableName: table.name,
        terms: [SQLiteIndex.Term(column: column, isAscending: nil)],
        isUnique: false
      )
    }
  }

  /// By the keys of the other end: the table's own key is for the first.
  private func joinIndexes(_ table: Table, _ names: inout UniqueNames) -> [SQLiteIndex] {
    joins.filter { forest[$0.relationship.entity]?.root === table.root }.map { join in
      SQLiteIndex(
        name: names.unique("\(join.name)_\(join.otherColumn)_INDEX"),
        tableName: join.name,
        terms: [join.otherColumn, join.ownColumn].map { SQLiteIndex.Term(column: $0, isAscending: nil) },
        isUnique: false
      )
    }
  }

  /// The indexes and the constraints that the model asks for. An index with a condition, an expression or an R-tree is left out: it is
  /// for speed alone.
  private func declaredIndexes(_ table: Table, _ names: inout UniqueNames) -> [SQLiteIndex] {
    let columns = Dictionary(table.columns.map { ($0.role, $0.name) }) { first, _ in first }
    var indexes: [SQLiteIndex] = []
    for member in forest.members where member.root === table.root {
      let definition = member.entity.definition
      for index in definition.fetchIndexes where index.partialIndexPredicate == nil {
        guard let terms = terms(index.elements, of: member.entity, columns) else { continue }
        let name = names.unique("Z_\(definition.name)_\(index.name)")
        indexes.append(SQLiteIndex(name: name, tableName: table.name, terms: terms, isUnique: false))
      }
      for attributes in definition.uniquenessConstraints
      where attributes.allSatisfy({ member.entity.property(named: $0)?.attribute != nil }) {
        let elements = attributes.map { FetchIndexElementDescription(.property($0)) }
        guard let terms = terms(elements, of: member.entity, columns) else { continue }
        let name = names.unique("Z_\(definition.name)_UNIQUE_\(attributes.joined(separator: "_"))")
        var index = SQLiteIndex(name: name, tableName: table.name, terms: terms, isUnique: true)
        if isInherited(attributes, member) { index.entityNumbers = numbers(under: member.entity) }
        indexes.append(index)
      }
    }
    return indexes
  }

  /// Whether an entity has all of the attributes from another one, of which records outside the constraint have values too.
  private func isInherited(_ attributes: [String], _ member: EntityForest.Member) -> Bool {
    let own = Set(member.ownProperties.map { member.entity.properties[$0].name })
    return own.isDisjoint(with: attributes)
  }

  /// The numbers of an entity and of all that inherit from it.
  private func numbers(under entity: EntityDescription) -> [Int] {
    forest.members.filter { $0.entity.isKind(of: entity) }.map { number($0.entity) }.sorted()
  }

  private func terms(
    _ elements: [FetchIndexElementDescription],
    of entity: EntityDescription,
    _ columns: [ColumnRole: String]
  ) -> [SQLiteIndex.Term]? {
    let terms = elements.compactMap { element -> SQLiteIndex.Term? in
      guard element.collationType == .binary,
        let slot = element.propertyName.flatMap(entity.ordinal(ofProperty:)).flatMap({ slot($0, of: entity) }),
        let column = columns[.value(slot)]
      else { return nil }
      return SQLiteIndex.Term(column: column, isAscending: element.isAscending)
    }
    return terms.count == elements.count && !terms.isEmpty ? terms : nil
  }
}
