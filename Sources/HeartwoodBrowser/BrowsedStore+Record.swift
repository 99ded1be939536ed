import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

// MARK: A record

extension BrowsedStore {
  private static let linkLimit = 200

  /// Returns all values of a record, the destinations of its relationships, and the records that refer to it by
  /// relationships without an inverse.
  func record(_ uri: String) throws -> JSONValue {
    let context = readingContext()
    let object = try object(uri, in: context)
    guard !object.isDeleted else { return Self.deletedRecord(object, in: context) }
    return .object([
      ("uri", .string(object.objectID.uriRepresentation().absoluteString)),
      ("entity", .string(object.entity.name)),
      ("reference", .string(object.objectID.reference.text)),
      ("label", .string(CellText.label(of: object.objectID, in: context))),
      ("change", .optional(Self.change(of: object))),
      (
        "values",
        .array(object.entity.properties.filter { !$0.isTransient }.map { Self.value($0, of: object, in: context) })
      ),
      ("incoming", .array(try incoming(object, in: context))),
    ])
  }

  /// A record whose deletion is not saved yet: its values are gone from the context.
  private static func deletedRecord(_ object: ManagedObject, in context: ManagedObjectContext) -> JSONValue {
    .object([
      ("uri", .string(object.objectID.uriRepresentation().absoluteString)),
      ("entity", .string(object.entity.name)), ("reference", .string(object.objectID.reference.text)),
      ("label", .string(CellText.label(of: object.objectID, in: context))), ("change", .string("deleted")),
      ("values", .array([])), ("incoming", .array([])),
    ])
  }

  /// Returns the kind of the unsaved change of a record; nil if it has none.
  static func change(of object: ManagedObject) -> String? {
    object.isInserted ? "inserted" : object.hasPersistentChangedValues ? "changed" : nil
  }

  /// Returns a property of a record with its value, or with the first of its destinations. If the record has unsaved
  /// changes, the property says whether it is one of them, and which rules of the model its value breaks.
  static func value(
    _ property: PropertyDescription,
    of object: ManagedObject,
    in context: ManagedObjectContext
  ) -> JSONValue {
    var members: [(name: String, value: JSONValue)] = [("name", .string(property.name))]
    if object.hasChanges {
      members += [
        ("isChanged", .boolean(object.changedValues()[property.name] != nil)),
        ("faults", .array(faults(in: property.name, of: object).map(JSONValue.string))),
      ]
    }
    do {
      if property.relationship?.isToMany == true {
        let ids = try object.objectIDs(forRelationshipNamed: property.name)
        members += [
          ("count", .integer(ids.count)),
          ("links", .array(ids.prefix(linkLimit).map { CellText.link(to: $0, in: context) })),
        ]
      } else {
        members.append(("value", try CellText(object, property.name, in: context).long))
      }
    } catch {
      members.append(("error", .string("\(error)")))
    }
    return .object(members)
  }

  private static func faults(in name: String, of object: ManagedObject) -> [String] {
    do {
      try object.validateValue(try object.propertyValue(forKey: name), forKey: name)
      return []
    } catch {
      return error.context.validationFaults.isEmpty
        ? ["\(error)"] : error.context.validationFaults.map(\.message)
    }
  }

  /// Returns the records that refer to an object by relationships without an inverse: the first records of each
  /// relationship.
  func incoming(_ object: ManagedObject, in context: ManagedObjectContext) throws -> [JSONValue] {
    var incoming: [JSONValue] = []
    for entity in coordinator.managedObjectModel.entities {
      for (property, target) in zip(entity.properties, entity.relationshipTargets) {
        guard let relationship = property.relationship, let target, !relationship.isTransient,
          relationship.inverseRelationshipName == nil,
          entity.superentity?.property(named: relationship.name) == nil,
          object.entity.isKind(of: coordinator.managedObjectModel.entities[target.entityOrdinal])
        else { continue }
        let format = relationship.isToMany ? "ANY %K == %@" : "%K == %@"
        var request = FetchRequest<ManagedObject>(
          entityName: entity.name,
          where: try FetchPredicate(format: format, arguments: [relationship.name, object.objectID])
        )
        let count = try context.count(for: request)
        guard count > 0 else { continue }
        request.fetchLimit = Self.linkLimit
        incoming.append(
          .object([
            ("entity", .string(entity.name)), ("relationship", .string(relationship.name)), ("count", .integer(count)),
            ("links", .array(try context.fetchObjectIDs(request).map { CellText.link(to: $0, in: context) })),
          ])
        )
      }
    }
    return incoming
  }

  /// Returns a whole value: text, or bytes, with the media type of a picture if they are one.
  func value(_ name: String, of uri: String) throws -> BrowserResponse {
    let context = readingContext()
    return try CellText(try object(uri, in: context), name, in: context).response
  }

  /// Returns the object of a URI. A new object that has not been saved has a temporary URI, which only its own context
  /// knows.
  func object(_ uri: String, in context: ManagedObjectContext) throws -> ManagedObject {
    if let new = context.insertedObjects.first(where: { $0.objectID.uriRepresentation().absoluteString == uri }) {
      return new
    }
    guard let url = URL(string: uri), let id = coordinator.managedObjectID(forURIRepresentation: url) else {
      throw BrowserError.malformed("“\(uri)” names no record of the store.")
    }
    return try context.existingObject(with: id)
  }
}

// MARK: History

extension BrowsedStore {
  private static let transactionLimit = 50
  private static let changeLimit = 100

  /// Returns the newest transactions of the stores' history before the one with a number, newest first.
  func history(before number: Int64?) throws -> JSONValue {
    let all = try coordinator.execute(
      PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    )
    let earlier = number.map { number in all.filter { $0.transactionNumber < number } } ?? all
    return .object([
      ("count", .integer(earlier.count)),
      ("transactions", .array(earlier.suffix(Self.transactionLimit).reversed().map(Self.json))),
    ])
  }

  private static func json(_ transaction: PersistentHistoryTransaction) -> JSONValue {
    let changes = transaction.changes
    return .object([
      ("number", .integer(transaction.transactionNumber)),
      ("date", .string(RecordDate.text(of: transaction.timestamp))),
      ("author", .optional(transaction.author)), ("context", .optional(transaction.contextName)),
      ("bundle", .optional(transaction.bundleID)), ("process", .optional(transaction.processID)),
      ("count", .integer(changes.count)),
      ("changes", .array(changes.prefix(changeLimit).map(json))),
    ])
  }

  private static func json(_ change: PersistentHistoryChange) -> JSONValue {
    let id = change.changedObjectID
    return .object([
      ("kind", .string("\(change.changeType)")), ("entity", .string(id.entity.name)),
      ("reference", .string(id.reference.text)), ("uri", .string(id.uriRepresentation().absoluteString)),
      ("properties", .array(change.updatedProperties.map(JSONValue.string))),
    ])
  }
}
