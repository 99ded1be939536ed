import ArgumentParser
import Heartwood
import HeartwoodFoundation
import HeartwoodImporting
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// An edit: an action, the records, and the new values.
struct EditInstruction {
  enum Action: String {
    case insert, update, delete
  }

  let action: Action
  /// The name of the entity; nil for the only entity that is not abstract.
  let entityName: String?
  /// The condition for the records; nil if they are given by reference or a record is inserted.
  let predicate: FetchPredicate?
  /// The references of the records.
  let references: [String]
  let assignments: [EditAssignment]

  /// Returns the entity of the edited records.
  func entity(in model: ManagedObjectModel) throws -> EntityDescription {
    if let entityName { return try model.knownEntity(named: entityName) }
    let entities = model.entities.filter { !$0.isAbstract }
    if let only = entities.first, entities.count == 1 { return only }
    let names = entities.map(\.name).joined(separator: ", ")
    throw ToolError("The store has several entities. Choose one with --entity: \(names).")
  }

  /// Returns the records to update or delete.
  func objects(in place: EditPlace) throws -> [ManagedObject] {
    guard let predicate else {
      return try references.map { try place.object($0, of: place.entity, option: "--id") }
    }
    return try place.context.fetch(FetchRequest<ManagedObject>(entityName: place.entity.name, where: predicate))
  }

  /// Returns the number of edited records, without reading them if possible.
  func count(in place: EditPlace) throws -> Int {
    if action == .insert { return 1 }
    guard let predicate else { return try objects(in: place).count }
    let request = FetchRequest<ManagedObject>(entityName: place.entity.name, where: predicate)
    return try place.context.count(for: request)
  }

  /// Performs the edit in the context, without saving.
  func apply(in place: EditPlace) throws {
    let resolved = try assignments.map { try place.resolve($0) }
    switch action {
    case .insert:
      let object = try place.context.insert(entityName: place.entity.name)
      for assignment in resolved { try assignment.apply(to: object) }
    case .update:
      for object in try objects(in: place) {
        for assignment in resolved { try assignment.apply(to: object) }
      }
    case .delete:
      for object in try objects(in: place) { place.context.delete(object) }
    }
    place.context.processPendingChanges()
  }
}

// MARK: EditAssignment

/// An argument of the form `KEY=VALUE`.
struct EditAssignment {
  enum Operation: String {
    case set, add, remove
  }

  let operation: Operation
  let key: String
  let text: String

  init(_ argument: String, _ operation: Operation) throws {
    guard let sign = argument.firstIndex(of: "="), sign != argument.startIndex else {
      let form = operation == .set ? "KEY=VALUE" : "KEY=RECORD"
      throw ValidationError("\(operation.option): Write \(form), the name of a property before the equals sign.")
    }
    self.operation = operation
    key = String(argument[..<sign])
    text = String(argument[argument.index(after: sign)...])
  }
}

extension EditAssignment.Operation {
  var option: String { "--\(rawValue)" }
}

/// An assignment with its text converted to a value of the property.
struct ResolvedAssignment {
  let operation: EditAssignment.Operation
  let key: String
  let value: PropertyValue

  func apply(to object: ManagedObject) throws {
    guard operation != .set else { return try object.setPropertyValue(value, forKey: key) }
    let ids = try object.propertyValue(forKey: key).objectIDs
    let others = ids.filter { !value.objectIDs.contains($0) }
    let changed = operation == .remove ? others : ids + value.objectIDs.filter { !ids.contains($0) }
    if changed != ids { try object.setPropertyValue(.toMany(changed), forKey: key) }
  }
}

// MARK: EditPlace

/// An open store and a context, in which texts in arguments are converted to values and records.
struct EditPlace {
  let context: ManagedObjectContext
  let store: PersistentStore
  let entity: EntityDescription

  private var model: ManagedObjectModel { context.persistentStoreCoordinator.managedObjectModel }

  /// Converts an assignment to a value of the property's type.
  func resolve(_ assignment: EditAssignment) throws -> ResolvedAssignment {
    let key = try propertyName(assignment.key)
    let ordinal = entity.ordinal(ofProperty: key)
    guard let ordinal, case let property = entity.properties[ordinal] else {
      let names = entity.properties.map(\.name)
      throw PersistenceError(
        .propertyUnknown,
        "\(assignment.operation.option): The entity has no property called \(DisplayText.safe(key)).",
        recovery: .custom(NameSuggestion.advice(for: key, among: names)),
        context: .init(entity: entity.name, property: key)
      )
    }
    guard !property.isTransient else { throw refusal(assignment, "is transient: no store keeps it.") }
    let value =
      switch property {
      case .attribute(let attribute): try self.value(of: assignment, attribute)
      case .relationship(let relationship): try related(by: assignment, relationship, ordinal)
      }
    return ResolvedAssignment(operation: assignment.operation, key: key, value: value)
  }

  /// Returns the name of the attribute that keeps a part of a composite attribute, such as `address_city` for
  /// `address.city`. Other names are returned unchanged.
  private func propertyName(_ key: String) throws -> String {
    guard let dot = key.firstIndex(of: ".") else { return key }
    let (whole, part) = (key[..<dot], key[key.index(after: dot)...])
    let composite = entity.compositeAttributes.first { $0.name == whole }
    return composite?.elements.first { $0.name == part }?.attributeName ?? key
  }

  private func refusal(_ assignment: EditAssignment, _ problem: String) -> ToolError {
    ToolError("\(assignment.operation.option): \(entity.name).\(assignment.key) \(problem)")
  }
}

// MARK: Attributes

extension EditPlace {
  private func value(of assignment: EditAssignment, _ attribute: AttributeDescription) throws -> PropertyValue {
    guard assignment.operation == .set else {
      throw refusal(assignment, "is an attribute, and not a to-many relationship. Use --set.")
    }
    guard attribute.derivationExpression == nil else {
      throw refusal(assignment, "is derived: each save computes it from other properties.")
    }
    if assignment.text == "null" { return .null }
    let text = try unquoted(assignment)
    if let value = ImportValue.scalar(.string(text)).propertyValue(of: attribute.type) { return value }
    let problem = "is of type \(attribute.type.rawValue), and the text is not such a value."
    throw refusal(assignment, "\(problem) \(Self.spelling(of: attribute.type))")
  }

  /// Returns the text. If it is a JSON string, returns the string's contents.
  private func unquoted(_ assignment: EditAssignment) throws -> String {
    guard assignment.text.hasPrefix("\"") else { return assignment.text }
    // try?: the error says how to write the text, whatever is wrong with it.
    guard case .scalar(.string(let text))? = try? ImportValue(json: Data(assignment.text.utf8)) else {
      throw refusal(assignment, "begins with a quotation mark, so the whole text must be a JSON string: \"\\\"a\\\"\".")
    }
    return text
  }

  private static func spelling(of type: AttributeType) -> String {
    type == .undefined
      ? "It has no type in the model, so only null can be set."
      : "Write \(type.textForm), or null."
  }
}

// MARK: Relationships

extension EditPlace {
  private func related(
    by assignment: EditAssignment,
    _ relationship: RelationshipDescription,
    _ ordinal: Int
  ) throws -> PropertyValue {
    guard let target = entity.relationshipTargets[ordinal] else {
      throw refusal(assignment, "is a relationship to an entity that the model does not have.")
    }
    let destination = model.entities[target.entityOrdinal]
    let option = "\(assignment.operation.option) \(assignment.key)"
    guard relationship.isToMany else {
      guard assignment.operation == .set else { throw refusal(assignment, "is a to-one relationship. Use --set.") }
      if assignment.text == "null" { return .null }
      return .toOne(try object(assignment.text, of: destination, option: option).objectID)
    }
    var ids: [ManagedObjectID] = []
    for text in Self.items(of: assignment.text) {
      let id = try object(text, of: destination, option: option).objectID
      if !ids.contains(id) { ids.append(id) }
    }
    return .toMany(ids)
  }

  /// Returns the records in a list in brackets, or the single record.
  private static func items(of text: String) -> [String] {
    if text == "null" { return [] }
    guard text.hasPrefix("["), text.hasSuffix("]") else { return [text] }
    let items = ExpressionList.parts(of: String(text.dropFirst().dropLast()))
    return items == [""] ? [] : items
  }

  /// Returns the record that a text refers to: with its reference, in the form of `dump`, with its URI, or with a
  /// predicate in parentheses.
  func object(_ text: String, of entity: EntityDescription, option: String) throws -> ManagedObject {
    if text.hasPrefix("("), text.hasSuffix(")") {
      return try onlyObject(String(text.dropFirst().dropLast()), of: entity, option)
    }
    let ids = try candidates(text, entity, option)
    let found = try ids.compactMap { id -> ManagedObject? in
      do {
        return try context.existingObject(with: id)
      } catch let error as PersistenceError where error.code == .objectNotFound {
        return nil
      }
    }
    if let only = found.first, found.count == 1 { return only }
    let name = DisplayText.safe(text)
    guard let first = found.first else { throw ToolError("\(option): There is no \(entity.name) \(name).") }
    throw ToolError(
      "\(option): \(found.count) entities have a record \(name). Write which one is meant: "
        + "{\"$entity\":\"\(first.entity.name)\",\"$id\":\"\(name)\"}."
    )
  }

  private func onlyObject(_ format: String, of entity: EntityDescription, _ option: String) throws -> ManagedObject {
    let predicate = try FetchPredicate(format: format)
    let request = FetchRequest<ManagedObject>(entityName: entity.name, where: predicate)
    let found = try context.fetch(request)
    if let only = found.first, found.count == 1 { return only }
    let count = found.isEmpty ? "No \(entity.name) meets" : "\(found.count) records of \(entity.name) meet"
    throw ToolError("\(option): \(count) (\(DisplayText.safe(format))), but it must find exactly one.")
  }

  /// Returns the possible ids of a record, because records of different entities may have the same reference.
  private func candidates(_ text: String, _ entity: EntityDescription, _ option: String) throws -> [ManagedObjectID] {
    if text.hasPrefix(ObjectURI.scheme + "://") {
      let id = URL(string: text).flatMap(context.persistentStoreCoordinator.managedObjectID(forURIRepresentation:))
      guard let id, id.entity.isKind(of: entity) else {
        throw ToolError("\(option): The URI names no \(entity.name) of this store.")
      }
      return [id]
    }
    let (name, reference) = try parts(of: text, option)
    let entities = store.entities.filter { $0.isKind(of: entity) && !$0.isAbstract && (name ?? $0.name) == $0.name }
    guard !entities.isEmpty else {
      throw ToolError("\(option): \(DisplayText.safe(name ?? "")) is not an entity that the relationship allows.")
    }
    return entities.map { ManagedObjectID(scope: store.scopes[$0.ordinal], reference: ReferenceID(text: reference)) }
  }

  /// Returns the entity, if the text contains it, and the reference.
  private func parts(of text: String, _ option: String) throws -> (entity: String?, reference: String) {
    guard text.hasPrefix("{") || text.hasPrefix("\"") else { return (nil, text) }
    switch try ImportValue(json: Data(text.utf8)) {
    case .scalar(.string(let reference)): return (nil, reference)
    case let record:
      guard case .scalar(.string(let name))? = record["$entity"], case .scalar(.string(let reference))? = record["$id"]
      else { throw ToolError("\(option): A record is an object with $entity and $id, both strings, as in a dump.") }
      return (name, reference)
    }
  }
}
