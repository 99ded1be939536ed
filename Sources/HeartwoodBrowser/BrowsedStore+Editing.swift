import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

// MARK: Who may edit

extension BrowsedStore {
  /// The header field with the token of the session.
  static let tokenField = "X-Heartwood-Edits"

  /// Whether the page can change records: it is allowed to, and some store is open for writing.
  var isEditable: Bool { allowsEditing && coordinator.persistentStores.contains { !$0.isReadOnly } }

  func editSession() -> EditSession {
    if let session { return session }
    let session = EditSession(coordinator)
    self.session = session
    return session
  }

  private func check(_ request: BrowserRequest) throws -> EditSession {
    guard isEditable else {
      throw BrowserError.forbidden(
        "The store is open for reading only. Start heartwood browse with --write to change it; in a server of your "
          + "own, make the BrowsedStore with allowsEditing and a store that is not read-only."
      )
    }
    try request.check(method: "POST")
    try request.checkComesFromOwnPage()
    let session = editSession()
    guard request.header(Self.tokenField) == session.token else {
      throw BrowserError.forbidden("The page is of an earlier run of the server. Load it again to change something.")
    }
    return session
  }

  /// Returns the unsaved changes.
  func edits() throws -> JSONValue {
    isEditable ? editSession().changes : .null
  }
}

extension BrowserRequest {
  /// Refuses a request that no page of the same server has sent. Browsers add `Origin` to each `POST`, and a page
  /// cannot set it.
  fileprivate func checkComesFromOwnPage() throws {
    let sites = headers.filter { $0.name.lowercased() == "sec-fetch-site" }.map(\.value)
    guard let origin = header("Origin"), sites.allSatisfy({ $0 == "same-origin" }) else { throw Self.isForeign }
    // Behind a proxy, the host may have another name here; the browser knows whether it is the same.
    if !sites.isEmpty { return }
    guard let host = header("Host"), ["http://\(host)", "https://\(host)"].contains(origin) else {
      throw Self.isForeign
    }
  }

  private static let isForeign = BrowserError.forbidden(
    "The request does not come from a page of this server, which alone may change something."
  )
}

// MARK: Changes

extension BrowsedStore {
  /// Answers a request to change something.
  func edit(_ request: BrowserRequest, _ name: String) throws -> BrowserResponse {
    let session = try check(request)
    session.prepare()
    defer { foundRecords = FoundRecordsCache() }
    switch name {
    case "set": return try set(try request.question(), session)
    case "insert": return try insert(try request.question(), session)
    case "deletion": return try deletion(try request.question(), session)
    case "delete": return try delete(try request.question(), session)
    case "relate": return try relate(try request.question(), session)
    case "unrelate": return try unrelate(try request.question(), session)
    case "undo": return step(session) { session.context.undo() }
    case "redo": return step(session) { session.context.redo() }
    case "discard": return step(session) { session.context.rollback() }
    case "save": return try save(try request.question(), session)
    default: throw BrowserError.notFound
    }
  }

  private func step(_ session: EditSession, _ body: () -> Void) -> BrowserResponse {
    body()
    session.context.processPendingChanges()
    return .json(.object([("state", session.state)]))
  }

  private func presentObject(_ uri: String, _ session: EditSession) throws -> ManagedObject {
    let object = try object(uri, in: session.context)
    guard !object.isDeleted else { throw BrowserError.deleted }
    return object
  }

  struct RecordQuestion: Decodable, Sendable {
    let uri: String
  }

  struct SetQuestion: Decodable, Sendable {
    let uri: String
    let name: String
    /// The text of the field; nil for no value.
    let text: String?
  }

  /// Sets an attribute. A value that the model does not allow is refused, and the record keeps the one before.
  private func set(_ question: SetQuestion, _ session: EditSession) throws -> BrowserResponse {
    let object = try presentObject(question.uri, session)
    let property = try Self.property(question.name, of: object)
    guard let attribute = property.attribute else {
      throw BrowserError.malformed("\(question.name) is a relationship: relate records to set it.")
    }
    let value = try FieldText.value(question.text, of: attribute)
    try object.validateValue(value, forKey: question.name)
    try session.step { try object.setPropertyValue(value, forKey: question.name) }
    return answer(property, of: object, session)
  }

  private static func property(_ name: String, of object: ManagedObject) throws -> PropertyDescription {
    if let property = object.entity.property(named: name) { return property }
    throw PersistenceError(
      .propertyUnknown,
      "The entity has no property called \(DisplayText.safe(name)).",
      context: .init(entity: object.entity.name, property: name)
    )
  }

  private func answer(_ property: PropertyDescription, of object: ManagedObject, _ session: EditSession)
    -> BrowserResponse
  {
    .json(
      .object([
        ("state", session.state), ("property", Self.value(property, of: object, in: session.context)),
        ("label", .string(CellText.label(of: object.objectID, in: session.context))),
        ("change", .optional(Self.change(of: object))),
      ])
    )
  }

  struct InsertQuestion: Decodable, Sendable {
    let entity: String
  }

  /// Inserts a record with the model's default values.
  private func insert(_ question: InsertQuestion, _ session: EditSession) throws -> BrowserResponse {
    let object = try session.step { try session.context.insert(entityName: question.entity) }
    return .json(
      .object([("state", session.state), ("record", CellText.link(to: object.objectID, in: session.context))])
    )
  }
}

// MARK: Deleting

extension BrowsedStore {
  private static let cascadeLimit = 50

  /// Returns what the deletion of a record would do to others.
  private func deletion(_ question: RecordQuestion, _ session: EditSession) throws -> BrowserResponse {
    let object = try presentObject(question.uri, session)
    let deletion = try session.consequences(of: object)
    let shown = deletion.cascade.prefix(Self.cascadeLimit).map { CellText.link(to: $0, in: session.context) }
    return .json(
      .object([
        ("label", .string(CellText.label(of: object.objectID, in: session.context))),
        ("count", .integer(deletion.cascade.count)), ("cascade", .array(shown)),
        ("unlinkedCount", .integer(deletion.unlinkedCount)),
        ("denials", .array(deletion.denials.map(JSONValue.string))),
        ("incoming", .array(try incoming(object, in: session.context))),
      ])
    )
  }

  private func delete(_ question: RecordQuestion, _ session: EditSession) throws -> BrowserResponse {
    let object = try presentObject(question.uri, session)
    try session.step { session.context.delete(object) }
    return .json(.object([("state", session.state)]))
  }
}

// MARK: Relating

extension BrowsedStore {
  struct RelateQuestion: Decodable, Sendable {
    let uri: String
    let name: String
    /// The URI of the record at the other end.
    let other: String
    /// The place among the destinations of an ordered relationship; nil for the end.
    let place: Int?
  }

  /// Makes a record a destination of a relationship, and moves it if it is one already.
  private func relate(_ question: RelateQuestion, _ session: EditSession) throws -> BrowserResponse {
    try changeLinks(question, session) { ids, other in
      let rest = ids.filter { $0 != other }
      let place = min(max(0, question.place ?? rest.count), rest.count)
      return rest[..<place] + [other] + rest[place...]
    }
  }

  private func unrelate(_ question: RelateQuestion, _ session: EditSession) throws -> BrowserResponse {
    try changeLinks(question, session) { ids, other in ids.filter { $0 != other } }
  }

  private func changeLinks(
    _ question: RelateQuestion,
    _ session: EditSession,
    _ change: ([ManagedObjectID], ManagedObjectID) -> [ManagedObjectID]
  ) throws -> BrowserResponse {
    let object = try presentObject(question.uri, session)
    let property = try Self.property(question.name, of: object)
    guard let relationship = property.relationship, !relationship.isTransient else {
      throw BrowserError.malformed("\(question.name) is no relationship that a store keeps.")
    }
    let other = try presentObject(question.other, session).objectID
    let former = try object.objectIDs(forRelationshipNamed: question.name)
    let ids = change(relationship.isToMany ? former : former.filter { $0 == other }, other)
    let value: PropertyValue = relationship.isToMany ? .toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null
    try session.step { try object.setPropertyValue(value, forKey: question.name) }
    return answer(property, of: object, session)
  }
}

// MARK: Saving

extension BrowsedStore {
  struct SaveQuestion: Decodable, Sendable {
    /// What to keep of records in conflict, by their URIs.
    let choices: [String: EditChoice]?
  }

  private static let greatestAttempts = 3

  /// Saves all changes or none. Conflicts without a choice are answered with status 409, broken rules with 422.
  private func save(_ question: SaveQuestion, _ session: EditSession) throws -> BrowserResponse {
    let choices = question.choices ?? [:]
    try session.takeTheirs(choices)
    var attempt = 1
    while true {
      do {
        return saved(try session.save { choices[$0] }, session)
      } catch let error as PersistenceError where error.code == .saveConflict {
        let conflicts = error.context.mergeConflicts.filter { EditConflict.resolution(of: $0) == .fail }
        return EditConflict.response(conflicts.map(EditConflict.init), in: session.context)
      } catch let error as PersistenceError where error.code == .fileChangedOnDisk && attempt < Self.greatestAttempts {
        attempt += 1
        guard let reopen else { throw error }
        if let response = try moveChanges(to: try reopen(), choices, session) { return response }
      }
    }
  }

  /// Makes the changes once more on the newest version of the stores.
  ///
  /// - Returns: the response with the conflicts, if there are some without a choice; then nothing has changed.
  private func moveChanges(
    to newest: PersistentStoreCoordinator,
    _ choices: [String: EditChoice],
    _ session: EditSession
  ) throws -> BrowserResponse? {
    let replay = EditReplay(of: session, on: newest)
    do {
      let reading = ManagedObjectContext(newest)
      let conflicts = try replay.conflicts(in: reading)
      if conflicts.contains(where: { choices[$0.uri] == nil }) {
        let response = EditConflict.response(conflicts, in: session.context)
        newest.close()
        return response
      }
      try session.moving(to: newest) { context in try replay.apply(in: context) { choices[$0] } }
    } catch {
      newest.close()
      throw error
    }
    replaceCoordinator(by: newest)
    return nil
  }

  private func saved(_ renaming: EditSession.Renaming, _ session: EditSession) -> BrowserResponse {
    let hasFile = coordinator.persistentStores.contains { $0.place?.path != nil }
    return .json(
      .object([
        ("state", session.state), ("hasFile", .boolean(hasFile)),
        ("renamed", .object(renaming.map { ($0.former, .string($0.uri)) })),
      ])
    )
  }
}
