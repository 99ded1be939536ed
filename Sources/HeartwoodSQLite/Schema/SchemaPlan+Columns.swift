import HeartwoodModel

/// The columns of a table of records.
extension SchemaPlan {
  /// Where a column stands: columns of one kind lie together, and among them those of one entity. Integers and relationships of an entity
  /// are not parted.
  private struct Place: Comparable {
    enum Kind: Int { case number, owner, order, float, decimal, text, uri, uuid, transformable, blob }

    let kind: Kind
    let member: Int
    let isRelationship: Bool
    let sequence: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.kind.rawValue, left.member, left.isRelationship ? 1 : 0, left.sequence)
        < (right.kind.rawValue, right.member, right.isRelationship ? 1 : 0, right.sequence)
    }
  }

  /// Columns that are being put together.
  private struct Columns {
    private var placed: [(place: Place, column: Column)] = []
    private var names = UniqueNames(reserved: [SQLiteName.primaryKey, SQLiteName.entity, SQLiteName.version])

    mutating func add(
      _ name: String,
      _ type: SQLiteColumnType,
      _ role: ColumnRole,
      _ kind: Place.Kind,
      member: Int,
      isRelationship: Bool = false
    ) {
      let place = Place(kind: kind, member: member, isRelationship: isRelationship, sequence: placed.count)
      placed.append((place, Column(name: names.unique(name), type: type, role: role)))
    }

    var sorted: [Column] { placed.sorted { $0.place < $1.place }.map(\.column) }
  }

  func table(of root: EntityForest.Member, name: String) -> Table {
    var columns = Columns()
    let members = forest.members.filter { $0.root === root.entity }
    for (index, member) in members.enumerated() {
      for slot in ownSlots(member) { add(slot, to: &columns, member: index) }
    }
    for slot in slots where leadsHereWithoutInverse(slot, root.entity) { addOwner(slot, to: &columns) }
    let fixed = [SQLiteName.primaryKey, SQLiteName.entity, SQLiteName.version].map {
      Column(name: $0, type: .integer, role: .row($0))
    }
    return Table(name: name, root: root.entity, columns: fixed + columns.sorted)
  }

  private func add(_ slot: PropertySlot, to columns: inout Columns, member: Int) {
    switch property(slot) {
    case .attribute(let attribute):
      let type = AttributeStorage(attribute).columnType
      columns.add(SQLiteName.plain(attribute.name), type, .value(slot), Self.kind(attribute), member: member)
    case .relationship(let relationship) where !relationship.isToMany:
      addToOne(slot, relationship.name, to: &columns, member: member)
    case .relationship: break
    }
  }

  private func addToOne(_ slot: PropertySlot, _ name: String, to columns: inout Columns, member: Int) {
    columns.add(SQLiteName.plain(name), .integer, .value(slot), .number, member: member, isRelationship: true)
    if let destination = destination(of: slot), forest.hasSubentities(destination) {
      let column = SQLiteName.entityColumn(number(destination), name)
      columns.add(column, .integer, .entity(slot), .number, member: member, isRelationship: true)
    }
    if let inverse = inverse(of: slot), isOrdered(inverse) {
      columns.add(SQLiteName.orderPrefix + name.uppercased(), .integer, .order(slot), .order, member: member)
    }
  }

  private func leadsHereWithoutInverse(_ slot: PropertySlot, _ root: EntityDescription) -> Bool {
    guard isToMany(slot), inverse(of: slot) == nil, let destination = destination(of: slot) else { return false }
    return forest[destination.ordinal]?.root === root
  }

  private func addOwner(_ slot: PropertySlot, to columns: inout Columns) {
    let owner = number(model.entities[slot.entity])
    columns.add(SQLiteName.numbered(owner, name(slot)), .integer, .owner(slot), .owner, member: 0)
    guard isOrdered(slot) else { return }
    let order = SQLiteName.orderPrefix + "\(owner)" + name(slot).uppercased()
    columns.add(order, .integer, .ownerOrder(slot), .order, member: Int.max)
  }

  private static func kind(_ attribute: AttributeDescription) -> Place.Kind {
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean: .number
    case .double, .float, .date: .float
    case .decimal: .decimal
    case .string: .text
    case .uri: .uri
    case .uuid: .uuid
    case .transformable, .undefined: .transformable
    case .binary: .blob
    }
  }
}
