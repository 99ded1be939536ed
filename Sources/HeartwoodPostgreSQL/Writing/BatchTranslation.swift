import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The statements of a batch for the records of one entity.
struct BatchTranslation {
  let entity: EntityDescription
  /// The changes of records whose relationships refer to deleted records.
  private let unlinked: [Unlinking]
  /// Updates or deletes the records; with `RETURNING`, it returns their keys.
  private let change: FetchStatement

  /// A statement about records with a relationship that refers to deleted records, which gives them their next version.
  /// It returns their keys and entities.
  private struct Unlinking {
    let entities: [String: EntityDescription]
    let propertyOrdinal: Int
    let change: FetchStatement
  }

  /// Returns the statements for each entity.
  static func translations(
    of batch: RecordBatch,
    in schema: PostgreSQLSchema,
    of store: UUID?
  ) throws(Untranslatable) -> [BatchTranslation] {
    var translations: [BatchTranslation] = []
    for fetch in batch.records {
      let part = BatchPart(fetch: fetch, isAlone: batch.records.count == 1, schema: schema, store: store)
      switch batch.action {
      case .update(let assignments):
        translations.append(
          BatchTranslation(entity: fetch.entity, unlinked: [], change: try part.update(assignments))
        )
      case .delete:
        let unlinked = try part.unlinkings().map {
          Unlinking(entities: $0.entities, propertyOrdinal: $0.propertyOrdinal, change: $0.change)
        }
        translations.append(BatchTranslation(entity: fetch.entity, unlinked: unlinked, change: try part.deletion()))
      }
    }
    return translations
  }

  /// Runs the statements.
  func run(
    needingReferences: Bool,
    _ connection: PostgreSQLConnection,
    into done: inout RecordBatchResult
  ) throws {
    for unlinking in unlinked {
      var references: [Int: [ReferenceID]] = [:]
      try connection.run(unlinking.change.text, unlinking.change.parameters).forEachRow { row in
        guard let name = try row.text(1), let entity = unlinking.entities[name] else {
          throw FieldFault("names an entity that the model does not allow there")
        }
        references[entity.ordinal, default: []].append(.uuid(try row.required(0, row.uuid)))
      }
      guard needingReferences else { continue }
      for (ordinal, references) in references.sorted(by: { $0.key < $1.key }) {
        done.unlinked.append(
          .init(entityOrdinal: ordinal, propertyOrdinal: unlinking.propertyOrdinal, references: references)
        )
      }
    }
    guard needingReferences else {
      done.count += try connection.run(change.text, change.parameters).affectedCount
      return
    }
    var references: [ReferenceID] = []
    try connection.run("\(change.text) RETURNING r.id", change.parameters).forEachRow { row in
      references.append(.uuid(try row.required(0, row.uuid)))
    }
    done.references[entity.ordinal] = references
    done.count += references.count
  }
}

/// The records of one entity in a batch.
private struct BatchPart {
  typealias Unlinking = (entities: [String: EntityDescription], propertyOrdinal: Int, change: FetchStatement)

  let fetch: RecordFetch
  /// Whether the batch concerns records of this entity only.
  let isAlone: Bool
  let schema: PostgreSQLSchema
  let store: UUID?

  private var placement: EntityPlacement {
    get throws(Untranslatable) { try Self.placement(of: fetch.entity, in: schema) }
  }

  private static func placement(of entity: EntityDescription, in schema: PostgreSQLSchema) throws(Untranslatable)
    -> EntityPlacement
  {
    do throws(PersistenceError) {
      return try schema.placement(of: entity)
    } catch {
      throw Untranslatable()
    }
  }

  /// Returns a statement about the rows, called `r`, that meet the condition.
  private func statement(
    _ text: (inout FetchTranslator, _ condition: String) throws(Untranslatable) -> String
  ) throws(Untranslatable) -> FetchStatement {
    try FetchTranslator.statement(fetch, in: schema, of: store) {
      translator,
      row,
      condition throws(Untranslatable) in
      if !translator.hasJoins { return try text(&translator, condition) }
      // The records of one entity are changed before those of the next one are selected, and the selection could depend
      // on them.
      guard isAlone else { throw Untranslatable() }
      return try text(&translator, "r.id IN (SELECT r.id FROM \(translator.source(row)) WHERE \(condition))")
    }
  }
}

// MARK: Updates

extension BatchPart {
  func update(_ assignments: [BatchAssignment]) throws(Untranslatable) -> FetchStatement {
    let unique = Set(fetch.entity.uniquenessConstraints.joined())
    if assignments.contains(where: { unique.contains($0.ordinal) }) { throw Untranslatable() }
    let placement = try placement
    return try statement { translator, condition throws(Untranslatable) in
      var terms = ["version = r.version + 1"]
      for assignment in assignments { terms += try values(assignment, placement, &translator) }
      return "UPDATE \(schema.qualified(placement.table)) AS r SET \(terms.joined(separator: ", ")) WHERE \(condition)"
    }
  }

  /// Returns the columns of an attribute and their new values, which are the same for all records.
  private func values(
    _ assignment: BatchAssignment,
    _ placement: EntityPlacement,
    _ translator: inout FetchTranslator
  ) throws(Untranslatable) -> [String] {
    guard placement.properties.indices.contains(assignment.ordinal),
      case .attribute(let place) = placement.properties[assignment.ordinal],
      let value = assignment.expression.constant?.scalar.converted(to: assignment.type)
    else { throw Untranslatable() }
    let parameters: [PostgreSQLParameter]
    do throws(AttributeField.Refusal) {
      parameters = try AttributeField.parameters(value, place)
    } catch {
      // A value that the table cannot store is refused only if there is a record that would get it.
      throw Untranslatable()
    }
    return zip(placement.valueColumns(assignment.ordinal), parameters).map { column, parameter in
      "\(PostgreSQLName.quoted(column)) = \(translator.parameter(parameter))"
    }
  }
}

// MARK: Deletions

extension BatchPart {
  func deletion() throws(Untranslatable) -> FetchStatement {
    let placement = try placement
    return try statement { _, condition throws(Untranslatable) in
      "DELETE FROM \(schema.qualified(placement.table)) AS r WHERE \(condition)"
    }
  }

  /// Returns the changes of records that deleted records refer to, or that refer to them.
  ///
  /// - Throws: ``Untranslatable`` if other records are deleted with them, or prevent the deletion.
  func unlinkings() throws(Untranslatable) -> [Unlinking] {
    if schema.isReferredToWithoutInverse(fetch.entity) { throw Untranslatable() }
    var unlinkings: [Unlinking] = []
    for (ordinal, property) in try placement.properties.enumerated() {
      guard let property, let unlinking = try unlinking(ordinal, property) else { continue }
      unlinkings.append(unlinking)
    }
    if !isAlone, !unlinkings.isEmpty { throw Untranslatable() }
    return unlinkings
  }

  /// Returns nil for an attribute, and for a relationship without an inverse.
  private func unlinking(_ ordinal: Int, _ property: PropertyPlacement) throws(Untranslatable) -> Unlinking? {
    let entity = fetch.entity
    guard let relationship = entity.properties[ordinal].relationship, let target = entity.relationshipTargets[ordinal]
    else { return nil }
    guard relationship.deleteRule == .nullify else { throw Untranslatable() }
    guard let inverseOrdinal = target.inverseOrdinal else { return nil }
    let destination = schema.model.entities[target.entityOrdinal]
    guard let inverse = destination.properties[inverseOrdinal].relationship,
      inverse.isToMany ? inverse.minCount == 0 : inverse.isOptional
    else { throw Untranslatable() }
    let other = try Self.placement(of: destination, in: schema).properties[inverseOrdinal]
    switch (property, other) {
    case (.toOne(let place), .toMany(let back)) where back.column == place.column:
      let keys = try keys("r.\(PostgreSQLName.quoted(place.column))")
      return unlinking(place.destination, inverseOrdinal, setting: [], where: "d.id", isIn: keys)
    case (.toOne(let place), .toOne(let back)):
      return try unlinking(place.destination, inverseOrdinal, clearing: back.column)
    case (.toMany(let place), .toOne(let back)) where back.column == place.column:
      return try unlinking(place.destination, inverseOrdinal, clearing: back.column, place.positionColumn)
    case (.join(let place), .join(let back)) where back.table == place.table:
      let keys = try keys("r.id")
      let (own, others) = (PostgreSQLName.quoted(place.ownColumn), PostgreSQLName.quoted(place.otherColumn))
      let pairs = FetchStatement(
        text: "SELECT j.\(others) FROM \(schema.qualified(place.table)) AS j WHERE j.\(own) IN (\(keys.text))",
        parameters: keys.parameters
      )
      return unlinking(place.destination, inverseOrdinal, setting: [], where: "d.id", isIn: pairs)
    default: throw Untranslatable()
    }
  }

  /// Returns the values of a column of the records.
  private func keys(_ column: String) throws(Untranslatable) -> FetchStatement {
    let table = schema.qualified(try placement.table)
    return try statement { _, condition throws(Untranslatable) in
      "SELECT \(column) FROM \(table) AS r WHERE \(condition)"
    }
  }

  /// Returns the statement that clears the references in a column to the deleted records.
  private func unlinking(
    _ destination: Destination,
    _ ordinal: Int,
    clearing column: String,
    _ positionColumn: String? = nil
  ) throws(Untranslatable) -> Unlinking {
    let columns = [column] + (positionColumn.map { [$0] } ?? [])
    return unlinking(
      destination,
      ordinal,
      setting: columns.map { "\(PostgreSQLName.quoted($0)) = NULL" },
      where: "d.\(PostgreSQLName.quoted(column))",
      isIn: try keys("r.id")
    )
  }

  private func unlinking(
    _ destination: Destination,
    _ ordinal: Int,
    setting terms: [String],
    where column: String,
    isIn keys: FetchStatement
  ) -> Unlinking {
    let terms = ["version = d.version + 1"] + terms
    let text = """
      UPDATE \(schema.qualified(destination.table)) AS d SET \(terms.joined(separator: ", ")) \
      WHERE \(column) IN (\(keys.text)) RETURNING d.id, d.entity
      """
    return (destination.entities, ordinal, FetchStatement(text: text, parameters: keys.parameters))
  }
}
