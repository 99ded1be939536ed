import HeartwoodModel
public import HeartwoodStore

extension ManagedObject {
  /// The number of times that the record had been saved when this object read its values: 1 after the first save, one
  /// more after each. It is nil if the object was never saved, or if its record is gone.
  ///
  /// A save finds a conflict if the record has another version by then. A server can pass the version to its clients,
  /// for example as an entity tag, and compare it when a change comes back:
  ///
  ///     guard request.ifMatch == toDo.savedVersion else { throw HTTPError(.preconditionFailed) }
  ///
  /// If the object is a fault, this reads the record. Unsaved changes make no difference.
  public final var savedVersion: UInt64? {
    if isFault { fireFault() }
    return readVersion
  }
}

extension ManagedObject {
  /// Reads the newest values from the store.
  @inline(never)
  final func fireFault() {
    pin()
    // An object that cannot be read stays a fault.
    if !state.contains(.inaccessible), !isFault { awake() }
  }

  /// Makes the object read from the newest version of the record from now on.
  ///
  /// If the record is gone, the object counts as deleted and has no values; the object could not know that before it
  /// read one.
  ///
  /// - Returns: the reason why the newest version cannot be read, if it cannot. It is noted too.
  @discardableResult
  final func pin() -> PersistenceError? {
    let failure = synchronize()
    if let group = withBinding({ $0.liveGroup(of: rowID) }) {
      state.remove(.inaccessible)
      content = .read(group)
    } else if failure == nil {
      becomeInaccessible()
    }
    return failure
  }

  /// Takes the newest version of the records, if it can be read. If not, this is noted, and the object stays at the
  /// version before, or a fault.
  ///
  /// - Returns: the reason why it cannot be read, if it cannot.
  @discardableResult
  final func synchronize() -> PersistenceError? {
    withBinding { binding in
      do {
        try binding.synchronize()
        return nil
      } catch {
        let failure = PersistenceError.unreadable([objectID], error)
        managedObjectContext?.noteReadFailure(failure)
        return failure
      }
    }
  }

  /// Takes the values of `table`, if it has the record in the same row and no later ones have been taken.
  ///
  /// - Returns: whether other values were taken before.
  final func read(_ table: NodeTable) -> Bool {
    // In a child context, versions have no order. Looking for the newest version may move the object to another row.
    let hasNewest = binding.rowsMayMove && showsNewest
    guard rowID != .none, table.isLive(rowID), table.reference(rowID) == objectID.reference else { return false }
    let group = table.groups[rowID.group]
    if !isFault { return !hasNewest && advance(to: group) }
    content = .read(group)
    awake()
    return false
  }

  /// Whether the object has read the newest version of its record.
  private final var showsNewest: Bool {
    guard let group else { return false }
    return newestVersion == binding.baseVersion(rowID, readFrom: group)
  }

  /// Whether there is a newer version of the record than the object has read, or the object's changes are based on an
  /// older one. False if the record is gone.
  final var isBehind: Bool {
    newestVersion.map { $0 != baseVersion } ?? false
  }

  /// Whether the object has the newest version of its record, and its changes are based on it.
  final var isNewest: Bool { newestVersion == baseVersion }

  /// The version of the record as the context would read it now; nil if the record is gone. Looking for it may move the
  /// object to another row.
  private final var newestVersion: UInt64? {
    synchronize()
    return binding.liveGroup(of: rowID)?.versions[rowID.row]
  }

  @inline(never)
  private final func becomeInaccessible() {
    state.insert(.inaccessible)
    content = .changed(makeChanges(group: nil))
    binding.noteLoss(of: self, nil)
  }

  final func awake() {
    awake { awakeFromFetch() }
  }

  final func awake(after events: SnapshotEventType) {
    awake { awake(fromSnapshotEvents: events) }
  }

  private final func awake(_ body: () -> Void) {
    state.insert(.awaking)
    body()
    state.remove(.awaking)
  }

  /// Rebases the changes on the newest version of the record: for a to-many relationship, the added and removed
  /// destinations.
  final func rebaseChanges() {
    // All compared records have the same ids.
    followConversions()
    guard case .changed(let changes) = content else { return }
    let formerLinks = linksBeforeChanges(changes)
    guard synchronize() == nil else { return }
    let group = binding.liveGroup(of: rowID)
    if group == nil, !state.contains(.inaccessible) {
      binding.noteLoss(of: self, changes.group)
      state.insert(.inaccessible)
    }
    changes.group = group
    changes.forgetOutdated()
    for (ordinal, ids) in formerLinks { rebaseLinks(ordinal, changes, since: ids) }
    for ordinal in changes.unsettledOrdinals { reconsider(ordinal, changes) }
    endChange(changes)
    if !state.contains(.inaccessible) { awake(after: .refresh) }
  }

  /// Returns the destinations that the changed to-many relationships had when the object was read, by ordinal.
  final func linksBeforeChanges(_ changes: ObjectChanges) -> [(ordinal: Int, ids: [ManagedObjectID])] {
    guard changes.group != nil else { return [] }
    let ordinals = changes.unsettledOrdinals.filter {
      binding.traits[$0].isToMany && !binding.traits[$0].isTransient
    }
    return ordinals.map { ($0, committedValue(at: $0).objectIDs) }
  }

  /// Applies what others have added to a to-many relationship and removed from it, in addition to the relationship's
  /// own changes.
  final func rebaseLinks(_ ordinal: Int, _ changes: ObjectChanges, since former: [ManagedObjectID]) {
    guard changes.group != nil, let own = changes.value(at: ordinal) else { return }
    let newest = committedValue(at: ordinal).objectIDs
    if newest == former { return }
    var list = ObjectIDList(own.objectIDs)
    list.follow(from: former, to: newest)
    changes.setLinks(list, at: ordinal)
  }

  /// Discards the changes; the stored values stay.
  final func revert() {
    guard case .changed(let changes) = content else { return }
    let wasLost = state.contains(.inaccessible)
    if rowID != .none { state.remove(.inaccessible) }
    guard let group = changes.group else {
      becomeFault()
      if wasLost { noticeLoss() }
      return
    }
    content = .read(group)
    if !binding.transientOrdinals.isEmpty { awake() }
    awake(after: .rollback)
  }

  /// Whether the changes of the object, or its deletion, are based on another version of the record than the one that
  /// it has.
  final var isOutdated: Bool {
    if case .changed(let changes) = content { changes.isOutdated } else { false }
  }

  /// The version of the record that the object's values are from; 0 for an object that has read none.
  final var baseVersion: UInt64 {
    if isOutdated { return .max }
    return readVersion ?? 0
  }

  /// The version of the record that the object has read; nil for faults and new objects.
  private final var readVersion: UInt64? {
    group.map { binding.baseVersion(rowID, readFrom: $0) }
  }

  /// The group that the object reads from; nil for faults and new objects.
  final var group: RowGroup? {
    switch content {
    case .fault: nil
    case .read(let group): group
    case .changed(let changes): changes.group
    }
  }

  /// The columns of ``group``, valid as long as the object has the group.
  final var committedViews: UnsafePointer<ColumnView>? {
    switch content {
    case .fault: nil
    case .read(let group): group.unsafeViews
    case .changed(let changes): changes.group?.unsafeViews
    }
  }
}

// MARK: Unread

// An object whose record cannot be read differs from one whose record is gone: it has no values for the time being, and
// reads them as soon as possible.

extension ManagedObject {
  /// Whether the object has no values yet, even if reading them was tried.
  final var isUnread: Bool { isFault || state.contains(.unread) }

  /// Reads the values of an object that has none yet.
  ///
  /// - Returns: the reason why they cannot be read, if they cannot. It is noted too.
  final func readIfUnread() -> PersistenceError? {
    if case .fault = content {
      let failure = pin()
      if isFault { return failure }
      if !state.contains(.inaccessible) { awake() }
    } else if state.contains(.unread) {
      return readAgain()
    }
    return nil
  }

  /// Tries again to read a record that could not be read when the object was created.
  ///
  /// - Returns: the reason why it cannot be read, if it cannot. It is noted too.
  final func readAgain() -> PersistenceError? {
    let binding = binding
    do {
      try binding.synchronize()
      // The binding restores the objects whose records it reads.
      if try binding.row(of: objectID.reference) == nil {
        state.remove(.unread)
        state.insert(.inaccessible)
      } else {
        binding.recoverLostObjects()
      }
    } catch {
      let failure = PersistenceError.unreadable([objectID], error)
      managedObjectContext?.noteReadFailure(failure)
      return failure
    }
    return isFault ? readIfUnread() : nil
  }

  /// Prepares an object without values for a change: its changes are put on top of its values before the next save,
  /// which fails if these cannot be read then.
  final func prepareUnreadForChange() {
    guard let failure = readIfUnread(), let context = managedObjectContext else { return }
    context.postpone(.base(self), failure)
  }

  /// Puts the changes of an object on top of its values, which could not be read when the changes were made.
  final func rebaseUnread() throws(PersistenceError) {
    // If the changes were undone since, there is nothing to do.
    if !hasUnsavedValues { return }
    if state.contains(.unread), let failure = readAgain() { throw failure }
    guard isPresent, case .changed(let changes) = content, rowID != .none else { return }
    do {
      try binding.synchronize()
    } catch {
      throw .unreadable([objectID], error)
    }
    guard let group = binding.liveGroup(of: rowID) else { return }
    changes.group = group
    changes.forgetOutdated()
    for ordinal in changes.unsettledOrdinals where binding.traits[ordinal].isToMany {
      rebaseLinks(ordinal, changes, since: [])
    }
    for ordinal in changes.unsettledOrdinals { reconsider(ordinal, changes) }
    endChange(changes)
  }
}

extension EntityBinding {
  /// Returns the object of a record that cannot be read. It becomes a usual object as soon as the record is read.
  func unreadObject(_ reference: ReferenceID) -> ManagedObject {
    let id = ManagedObjectID(scope: scope, reference: reference)
    if let object = lost.objectsWithoutRow.first(where: { $0.objectID == id }) { return object }
    let object = makeObject(.fault, .none, [.registered, .unread])
    let changes = object.makeChanges(group: nil)
    changes.newID = id
    object.content = .changed(changes)
    noteLoss(of: object, nil)
    return object
  }
}

// MARK: Reading

// The getters of objects cannot throw: they leave out what cannot be read, and add the failure to
// `ManagedObjectContext.readFailures`. The functions below throw it.

extension ManagedObject {
  /// Returns the value of an attribute as the subscript does, but throws if the record cannot be read.
  ///
  ///     let name = try item.read(Item.nameKey)
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying
  ///   error.
  public final func read<Value: AttributeValue>(_ key: AttributeKey<Value>) throws(PersistenceError) -> Value {
    try reading { self[key] }
  }

  /// Returns the value of a transformable attribute as the subscript does, but throws if the record cannot be read or
  /// the transformer rejects the bytes.
  ///
  /// - Throws: a ``PersistenceError`` with the id of the object in its context, and the cause as its underlying error.
  public final func read<Value>(_ key: TransformedKey<Value>) throws(PersistenceError) -> Value? {
    try reading { self[key] }
  }

  /// Notes that the transformer rejects the bytes of an attribute.
  final func noteUnreadableValue(_ key: PropertyKey, _ error: any Error) {
    let failure = PersistenceError(
      .valueTypeMismatch,
      "The bytes of the attribute cannot be decoded. Read them with propertyValue(forKey:), or correct the type that decodes them.",
      context: .init(entity: entity.name, property: key.name, objectIDs: [objectID]),
      underlyingError: error
    )
    managedObjectContext?.noteReadFailure(failure)
  }

  /// Returns the destination of a to-one relationship, or nil if there is none. It throws if the destination's record
  /// cannot be read.
  ///
  ///     let list = try item.read(Item.listKey)
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying
  ///   error.
  public final func read<Destination: ManagedObject>(
    _ key: ToOneKey<Destination>
  ) throws(PersistenceError) -> Destination? {
    try reading { self[key] }
  }

  /// Returns all destinations of a to-many relationship. It throws if the record of one cannot be read.
  ///
  ///     for item in try list.read(List.itemsKey) { … }
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying
  ///   error.
  public final func read<Destination: ManagedObject>(
    _ key: ToManyKey<Destination>
  ) throws(PersistenceError) -> [Destination] {
    try reading { self[key] }
  }
}

extension RelatedSet {
  /// Returns all objects. It throws if the record of one cannot be read, whereas ``objects`` leaves that object out.
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying
  ///   error.
  public func read() throws(PersistenceError) -> Set<Destination> {
    guard let owner else { return objects }
    return try owner.reading { objects }
  }
}

extension RelatedList {
  /// Returns all objects in their order. It throws if the record of one cannot be read, whereas ``objects`` leaves that
  /// object out.
  ///
  /// - Throws: a ``PersistenceError`` with the ids of the records in its context, and the cause as its underlying
  ///   error.
  public func read() throws(PersistenceError) -> [Destination] {
    guard let owner else { return objects }
    return try owner.reading { objects }
  }
}
