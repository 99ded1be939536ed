import GRDB
import HeartwoodModel
import HeartwoodStore

/// Makes a model from the tables of a file.
struct ModelRecovery {
  private let db: Database
  private let path: String
  private let catalog: FileCatalog
  /// The entities whose table exists.
  private let entities: [EntityTree.Entity]
  private let tables: [TableSurvey]
  private let names: RecoveredNames
  private let keys: KeySurvey

  private var attributes: [Int: [AttributeDescription]] = [:]
  private var relationships: [Int: [RelationshipDescription]] = [:]
  private var links: [RecoveredLink] = []
  /// The names of properties that are used already, by the number of the entity, in upper case.
  private var taken: [Int: Set<String>] = [:]
  private var notes: [String] = []
  /// The relationships whose names are not in the file.
  private var madeUp: [String] = []
  /// The names of entities in the model, by their names in the table of entities: a migration may leave the row of an
  /// entity under its previous name.
  private let newNames: [String: String]

  private static let flagPrefixes = ["IS", "HAS", "DID", "WAS", "CAN", "SHOULD", "NEEDS"]

  /// - Parameter entityNames: the entities of the model with which the records were written, according to the metadata.
  init(_ db: Database, path: String, entityNames: Set<String>) throws {
    (self.db, self.path) = (db, path)
    catalog = try FileCatalog(db)
    guard catalog[SQLiteName.primaryKeyTable] != nil else {
      throw PersistenceError(
        .fileMalformed,
        "The file has no table \(SQLiteName.primaryKeyTable), so it is not a store of Core Data.",
        context: .init(path: path, storeType: .sqlite)
      )
    }
    let tree = try EntityTree(db)
    var surveys: [TableSurvey] = []
    var lost: [String] = []
    let roots = Dictionary(grouping: tree.entities) { tree.root(of: $0)?.number ?? 0 }
    for (number, members) in roots.sorted(by: { $0.key < $1.key }) {
      guard let root = members.first(where: { $0.number == number }),
        let table = catalog[SQLiteName.plain(root.name)], table[SQLiteName.entity] != nil,
        table[SQLiteName.primaryKey] != nil
      else {
        lost += members.map(\.name)
        continue
      }
      surveys.append(try TableSurvey(table, root: root, members: members, db))
    }
    tables = surveys
    entities = surveys.flatMap(\.members).sorted { $0.number < $1.number }
    newNames = Self.newNames(tree.entities.map(\.name), entityNames)
    names = RecoveredNames(surveys, entityNames: entities.map(\.name))
    keys = KeySurvey(surveys, db)
    if !lost.isEmpty {
      notes.append("\(lost.sorted().joined(separator: ", ")): the file has no table of the entity, so it was left out.")
    }
  }

  /// - Throws: ``PersistenceError/Code/fileMalformed`` if the tables of the file do not give a valid model.
  mutating func recover() throws -> RecoveredModel {
    for table in tables { try survey(table) }
    for table in tables {
      for owner in table.owners { try add(owner, of: table) }
    }
    try addJoins()
    try addLinks()
    if !madeUp.isEmpty {
      notes.append(
        "The file has no names of to-many relationships whose inverse refers to one object. These were made up: \(madeUp.sorted().joined(separator: ", "))."
      )
    }
    do throws(ModelValidationError) {
      let model = try ManagedObjectModel(
        entities: entities.map(definition),
        versionIdentifiers: [ManagedObjectModel.recoveredVersionIdentifier]
      )
      return RecoveredModel(model: model, notes: notes)
    } catch {
      throw PersistenceError(
        .fileMalformed,
        "The tables of the file make no model: \(error)",
        context: .init(path: path, storeType: .sqlite)
      )
    }
  }

  /// Returns the new name of an entity, if it is the only one with another name in the metadata.
  private static func newNames(_ names: [String], _ known: Set<String>) -> [String: String] {
    let (old, new) = (Set(names).subtracting(known), known.subtracting(names))
    guard let oldName = old.first, let newName = new.first, old.count == 1, new.count == 1 else { return [:] }
    return [oldName: newName]
  }

  private func modelName(_ entity: EntityTree.Entity) -> String { newNames[entity.name] ?? entity.name }

  private func definition(_ entity: EntityTree.Entity) -> EntityDefinition {
    let own = attributes[entity.number] ?? []
    let related = relationships[entity.number] ?? []
    let known = lineage(entity).flatMap { attributes[$0.number] ?? [] }.map(\.name)
    return EntityDefinition(
      name: modelName(entity),
      superentityName: parent(of: entity).map(modelName),
      properties: own.map { .attribute($0) } + related.map { .relationship($0) },
      uniquenessConstraints: constraints(of: entity, among: Set(known)),
      renamingIdentifier: newNames[entity.name] == nil ? nil : entity.name
    )
  }

  /// Returns the groups of attributes whose values are unique, according to the file's indexes.
  private func constraints(of entity: EntityTree.Entity, among known: Set<String>) -> [[String]] {
    guard let table = table(of: entity.number) else { return [] }
    return table.indexes.filter { $0.isUnique && $0.name.hasPrefix("Z_\(entity.name)_UNIQUE_") }.map { index in
      index.columns.map { names.name(String($0.dropFirst())) }
    }.filter { $0.allSatisfy(known.contains) }
  }
}

// MARK: Entities

extension ModelRecovery {
  private func parent(of entity: EntityTree.Entity) -> EntityTree.Entity? {
    entity.parent.flatMap { number in entities.first { $0.number == number } }
  }

  /// Returns the entity and all its superentities.
  private func lineage(_ entity: EntityTree.Entity) -> [EntityTree.Entity] {
    var found: [EntityTree.Entity] = []
    var next: EntityTree.Entity? = entity
    while let current = next, found.count < ManagedObjectModel.deepestInheritance {
      found.append(current)
      next = parent(of: current)
    }
    return found
  }

  private func table(of number: Int) -> TableSurvey? {
    tables.first { table in table.members.contains { $0.number == number } }
  }

  private func entity(_ number: Int) -> EntityTree.Entity? { entities.first { $0.number == number } }

  private func name(of number: Int) -> String { entity(number).map(modelName) ?? "" }

  /// Returns the entity whose records all have a value: the nearest one that all entities of `numbers` are or inherit
  /// from, or the root entity if there are none.
  private func owner(of numbers: Set<Int>, in table: TableSurvey) -> EntityTree.Entity {
    let lines = table.members.filter { numbers.contains($0.number) }.map { Array(lineage($0).reversed()) }
    guard let first = lines.first else { return table.root }
    var common = table.root
    for (depth, entity) in first.enumerated() {
      guard lines.allSatisfy({ depth < $0.count && $0[depth].number == entity.number }) else { break }
      common = entity
    }
    return common
  }

  /// Returns a name that no other property of the entity, its superentities or its subentities has. The name of a
  /// column or a table is always unique.
  private mutating func uniqueName(_ name: String, near entity: EntityTree.Entity) -> String {
    let related = lineage(entity).map(\.number) + family(of: entity)
    var candidate = name
    var number = 0
    while related.contains(where: { taken[$0]?.contains(SQLiteName.key(candidate)) ?? false }) {
      number += 1
      candidate = name + String(number)
    }
    taken[entity.number, default: []].insert(SQLiteName.key(candidate))
    return candidate
  }
}

// MARK: Columns

extension ModelRecovery {
  private mutating func survey(_ table: TableSurvey) throws {
    for name in table.foreignColumns {
      notes.append("The column \(name) of \(table.name) is not one of Core Data's, and was left out.")
    }
    let survey = LinkSurvey(keys, entities)
    let lastPlain = table.columns.lastIndex { $0.type == SQLiteColumnType.integer.rawValue && !$0.hasOwnIndex }
    for (place, column) in table.columns.enumerated() {
      let content = try ColumnContent(of: column.name, in: table.name, db)
      let owner = owner(of: content.entities, in: table)
      guard column.type == SQLiteColumnType.integer.rawValue, content.count == content.integers else {
        add(column, of: table, content, to: owner)
        continue
      }
      // In a table of several entities, the relationships of each follow its own attributes.
      let isBefore = table.members.count == 1 && lastPlain.map { place < $0 } ?? false
      switch try survey.finding(column, in: table, content, isBeforeAttribute: isBefore) {
      case .attribute: add(column, of: table, content, to: owner)
      case .destination(let number) where self.table(of: number) != nil:
        add(column, of: table, from: owner, to: number)
      case .destination(let number):
        notes.append(
          "\(owner.name).\(names.name(column.rest)) refers to the entity \(number), which the file does not have."
        )
        add(column, of: table, content, to: owner)
      case .ambiguous(let candidates):
        notes.append(
          "\(owner.name).\(names.name(column.rest)) may be a relationship to any of \(candidates.joined(separator: ", ")). It was taken for a number."
        )
        add(column, of: table, content, to: owner)
      }
    }
  }

  private mutating func add(
    _ column: TableSurvey.Column,
    of table: TableSurvey,
    _ content: ColumnContent,
    to owner: EntityTree.Entity
  ) {
    let name = uniqueName(names.name(column.rest), near: owner)
    let isFlag = Self.flagPrefixes.contains { SQLiteName.key(column.rest).hasPrefix($0) }
    let (type, isExternal) = content.attributeType(declared: column.type, isNamedAsFlag: isFlag)
    // A decimal number may be stored as text: NaN is.
    if content.isMixed, type != .decimal {
      notes.append("\(owner.name).\(name): the column holds values of several kinds, of which those of one are read.")
    }
    if type == .binary, content.mayBeMarked {
      notes.append(
        "\(owner.name).\(name): all values begin with the byte 01, which does not belong to them if the attribute may keep data in files."
      )
    }
    attributes[owner.number, default: []].append(
      AttributeDescription(name: name, type: type, allowsExternalBinaryDataStorage: isExternal)
    )
  }

  private mutating func add(
    _ column: TableSurvey.Column,
    of table: TableSurvey,
    from owner: EntityTree.Entity,
    to destination: Int
  ) {
    // This name is the column's: it is reserved before names of inverses are generated.
    _ = uniqueName(names.name(column.rest), near: owner)
    links.append(
      RecoveredLink(
        column: column.name,
        rest: column.rest,
        table: table.name,
        source: owner.number,
        destination: destination,
        hasOrderedInverse: column.hasOrder
      )
    )
  }

  /// Adds a to-many relationship without an inverse, or a number if the column does not store one.
  private mutating func add(_ owner: TableSurvey.Owner, of table: TableSurvey) throws {
    let content = try ColumnContent(of: owner.name, in: table.name, db)
    let destination = self.owner(of: content.entities, in: table)
    guard let source = entity(owner.entity), content.count == content.integers,
      try keys.leads(owner.name, of: table.name, to: family(of: source))
    else {
      notes.append(
        "The column \(owner.name) of \(table.name) refers to no records of an entity. It was taken for a number."
      )
      let name = uniqueName(names.name(String(owner.name.dropFirst())), near: destination)
      attributes[destination.number, default: []].append(AttributeDescription(name: name, type: .integer64))
      return
    }
    relationships[source.number, default: []].append(
      RelationshipDescription(
        name: uniqueName(names.name(owner.rest), near: source),
        destinationEntityName: modelName(destination),
        isToMany: true,
        isOrdered: owner.isOrdered
      )
    )
  }

  /// Returns the numbers of an entity and all its subentities.
  private func family(of entity: EntityTree.Entity) -> [Int] {
    entities.filter { member in lineage(member).contains { $0.number == entity.number } }.map(\.number)
  }
}

// MARK: Relationships

extension ModelRecovery {
  private mutating func addJoins() throws {
    let known = Set(tables.map { SQLiteName.key($0.name) })
    let others = catalog.tables.filter { !known.contains($0.key) }.values.sorted { $0.name < $1.name }
    for table in others {
      let (keys, entities) = (keys, entities)
      let families = Dictionary(entities.map { ($0.number, family(of: $0)) }) { first, _ in first }
      let join = try JoinSurvey(table) { column, number in
        guard let family = families[number] else { return false }
        return try keys.leads(column, of: table.name, to: family)
      }
      guard let join else {
        if table.name.hasPrefix("Z_"), NumberedName(String(table.name.dropFirst("Z_".count))) != nil {
          notes.append("The table \(table.name) is of a relationship whose entities are not known. It was left out.")
        }
        continue
      }
      add(join)
    }
  }

  private mutating func add(_ join: JoinSurvey) {
    guard let source = entity(join.source), let destination = entity(join.destination) else { return }
    let name = uniqueName(names.name(join.rest), near: source)
    let inverse = join.isReflexive ? name : uniqueName(names.name(join.inverseRest), near: destination)
    relationships[join.source, default: []].append(
      RelationshipDescription(
        name: name,
        destinationEntityName: modelName(destination),
        inverseRelationshipName: inverse,
        isToMany: true,
        isOrdered: join.isOrdered
      )
    )
    if join.isReflexive { return }
    relationships[join.destination, default: []].append(
      RelationshipDescription(
        name: inverse,
        destinationEntityName: modelName(source),
        inverseRelationshipName: name,
        isToMany: true,
        isOrdered: join.hasOrderedInverse
      )
    )
  }

  /// Adds the to-one relationships, in pairs if they are each other's inverse, and the to-many inverses whose names are
  /// not in the file.
  private mutating func addLinks() throws {
    let partners = try partners()
    for (place, link) in links.enumerated() {
      let inverse = partners[place].map { names.name(links[$0].rest) } ?? inverseName(of: link)
      relationships[link.source, default: []].append(
        RelationshipDescription(
          name: names.name(link.rest),
          destinationEntityName: name(of: link.destination),
          inverseRelationshipName: inverse
        )
      )
      guard partners[place] == nil else { continue }
      relationships[link.destination, default: []].append(
        RelationshipDescription(
          name: inverse,
          destinationEntityName: name(of: link.source),
          inverseRelationshipName: names.name(link.rest),
          isToMany: true,
          isOrdered: link.hasOrderedInverse
        )
      )
    }
  }

  /// Returns the links that refer back, by index: those that do so for all records or, among links without values, the
  /// only ones between two entities.
  private func partners() throws -> [Int: Int] {
    var partners: [Int: Int] = [:]
    for (place, link) in links.enumerated() where partners[place] == nil && !link.hasOrderedInverse {
      let backs = links.indices.filter { other in
        other > place && partners[other] == nil && links[other].source == link.destination
          && links[other].destination == link.source && !links[other].hasOrderedInverse
      }
      let agreements = try backs.map { ($0, try keys.agree(link, links[$0])) }
      let agreeing = agreements.filter { $0.1 == true }.map(\.0)
      let unknown = agreements.filter { $0.1 == nil }.map(\.0)
      guard
        let back = agreeing.count == 1 ? agreeing.first : agreeing.isEmpty && unknown.count == 1 ? unknown.first : nil
      else { continue }
      (partners[place], partners[back]) = (back, place)
    }
    return partners
  }

  /// Returns a name for the inverse of a link, which the file does not contain: the plural of the entity's name,
  /// followed by the name of the link if there are several between the two entities.
  private mutating func inverseName(of link: RecoveredLink) -> String {
    let source = RecoveredNames.decapitalized(name(of: link.source))
    let isOnly = links.count { $0.source == link.source && $0.destination == link.destination } == 1
    let name = names.name(link.rest)
    let text = isOnly ? "\(source)s" : "\(source)sBy\(name.prefix(1).uppercased())\(name.dropFirst())"
    guard let destination = entity(link.destination) else { return text }
    let unique = uniqueName(text, near: destination)
    madeUp.append("\(modelName(destination)).\(unique)")
    return unique
  }
}
