import HeartwoodModel
import HeartwoodStore

/// The objects that a request asks for, in sections, kept up with what becomes of them in a context.
///
///     let controller = FetchedResultsController(
///       FetchRequest<ToDo>(where: ToDo.isDoneKey == false, sortedBy: [ToDo.dueKey.ascending]),
///       in: context,
///       sectionedBy: .keyPath("list.name")
///     )
///     try controller.performFetch()
///
/// It takes in what changes when an event of the context ends: at ``ManagedObjectContext/processPendingChanges()``, a save, a merge, a
/// refresh, the end of a ``BackgroundContext/perform(_:)``; in a ``ViewContext`` as soon as the main actor is free. It looks at the
/// objects that have changed, and at those that depend on them over relationships of the predicate, the sort descriptors and the
/// sections, not at the others: an event costs O(changes · log objects). Where a request has a limit or an offset, or where a
/// relationship whose end has changed has no inverse, it fetches again after each event.
///
/// What changes is told to the ``delegate``, and comes as ``snapshots``. A controller belongs to the isolation of its context, which it
/// holds, together with the objects that it has found. `now()` in a predicate is the time of ``performFetch()``.
public final class FetchedResultsController<Object: ManagedObject> {
  /// What the results are of. Its ``FetchRequest/includesPendingChanges`` does not count: they always do. Whoever changes it calls
  /// ``performFetch()`` to see the change.
  public var fetchRequest: FetchRequest<Object>
  /// What makes the sections; nil where all objects are in one.
  public let sectionKey: FetchedResultsSectionKey<Object>?
  /// The context whose objects the results are.
  public let managedObjectContext: ManagedObjectContext
  /// Who learns what becomes of the results.
  public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
  /// What stands for a section of a name in an index: its first character as a capital, unless this is another function.
  public var sectionIndexTitle: (String) -> String? = { $0.first.map { $0.uppercased() } }

  /// What the results are of until the next ``performFetch()``.
  private var fetchedRequest: FetchRequest<Object>
  private var query: LiveQuery?
  private var list: LiveList?
  private var related: RelatedValues?
  /// What has happened while something else was told.
  private var waiting: [QueuedEvent] = []
  private var isTelling = false
  private var readers: [Reader] = []
  /// Why the results are not what they should be since the last event; nil if they are. The delegate is told of it. What has been missed is made
  /// good by the next event, or by ``performFetch()``.
  public private(set) var updateError: (any Error)?
  /// What the events have been about that could not be told.
  private var missed = LiveEvent()

  private enum QueuedEvent {
    case event(LiveEvent)
    /// A save has given new objects, which are among the results, another place.
    case move([ManagedObject])
    /// The context was reset while these were the results.
    case reset(LiveList)
  }

  private struct Reader {
    weak var mailbox: Mailbox<FetchedResultsSnapshot>?
  }

  /// Makes a controller that has no results until ``performFetch()``.
  public init(
    _ fetchRequest: FetchRequest<Object>,
    in managedObjectContext: ManagedObjectContext,
    sectionedBy sectionKey: FetchedResultsSectionKey<Object>? = nil
  ) {
    self.fetchRequest = fetchRequest
    fetchedRequest = fetchRequest
    self.managedObjectContext = managedObjectContext
    self.sectionKey = sectionKey
  }

  /// Makes a controller with a section for each value at a key path, as Core Data's does.
  ///
  /// Where the first sort descriptor is of the same key path, the sections are in its order; otherwise in that of their values. See
  /// ``FetchedResultsSectionKey/sorted(by:name:)`` for sections in another order.
  public convenience init(
    _ fetchRequest: FetchRequest<Object>,
    in managedObjectContext: ManagedObjectContext,
    sectionNameKeyPath: String
  ) {
    let first = fetchRequest.sortDescriptors.first { $0.keyPath == sectionNameKeyPath }
    let key = FetchedResultsSectionKey<Object>.sorted(by: first ?? FetchSortDescriptor(sectionNameKeyPath))
    self.init(fetchRequest, in: managedObjectContext, sectionedBy: key)
  }

  deinit {
    for reader in readers { reader.mailbox?.finish() }
  }
}

@available(*, unavailable, message: "A controller belongs to the isolation of its context; its snapshots are Sendable.")
extension FetchedResultsController: Sendable {}

// MARK: Fetching

extension FetchedResultsController {
  /// Fetches the results, and keeps up with the context from then on. The delegate is not told of it.
  ///
  /// - Throws: as ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``; also where a key path of the sections does not fit. The
  ///   results are what they were then.
  public func performFetch() throws {
    // What has happened so far is told of the results that were.
    managedObjectContext.tellChangeEvent()
    let request = fetchRequest
    let query = try makeQuery(request)
    let list = LiveList(LiveOrder(query.pass), sectionKey?.order)
    let matches = try managedObjectContext.reading { try query.matches() }
    list.reserve(matches.count)
    var section: LiveSection?
    for match in matches {
      try check(match.object)
      if section.map({ list.sectionOrder.compare($0.key, match.section) != 0 }) ?? true {
        section = list.section(of: match.section)
      }
      if let section { list.append(LiveEntry(match), to: section) }
    }
    (self.query, self.list) = (query, list)
    fetchedRequest = request
    (updateError, missed) = (nil, LiveEvent())
    related = RelatedValues(query.dependencies, in: managedObjectContext)
    managedObjectContext.notifier.add(self)
    tellReaders(updated: [])
  }

  private func makeQuery(_ request: FetchRequest<Object>) throws -> LiveQuery {
    var request = request
    request.includesPendingChanges = true
    return try LiveQuery(request, sectionKey, in: managedObjectContext)
  }

  private func check(_ object: ManagedObject) throws(PersistenceError) {
    if object is Object { return }
    throw PersistenceError(
      .objectClassMismatch,
      "The entity's objects are of the class \(type(of: object)), and \(Object.self) was asked for.",
      context: .init(entity: fetchRequest.entityName)
    )
  }
}

// MARK: Results

extension FetchedResultsController {
  /// The objects in their order; nil before the first ``performFetch()``. O(objects / 512).
  public var fetchedObjects: FetchedObjects<Object>? { list.map { FetchedObjects($0.sections) } }

  /// The sections; empty before the first ``performFetch()``, and where there are no objects. Without a ``sectionKey`` all objects are in
  /// one, without a name.
  public var sections: [FetchedResultsSection<Object>] {
    (list?.sections ?? []).map { section in
      FetchedResultsSection(
        name: section.name,
        value: section.key.name,
        indexTitle: sectionIndexTitle(section.name),
        objects: FetchedObjects(CollectionOfOne(section))
      )
    }
  }

  /// How many objects there are.
  public var numberOfObjects: Int { list?.count ?? 0 }

  /// The object at a place; nil where there is none. O(log objects).
  public func object(at indexPath: FetchedResultsIndexPath) -> Object? {
    list?.object(section: indexPath.section, item: indexPath.item) as? Object
  }

  /// The place of an object; nil where it is not among the results. O(log objects).
  public func indexPath(for object: Object) -> FetchedResultsIndexPath? {
    list?.place(of: object).map { FetchedResultsIndexPath(section: $0.section.ordinal, item: $0.item) }
  }

  /// What stands for the sections in an index, in their order, neighbours that are the same once.
  public var sectionIndexTitles: [String] {
    titles.reduce(into: []) { titles, title in
      if let title, titles.last != title { titles.append(title) }
    }
  }

  /// The first section for which a title stands in the index; nil where there is none.
  public func section(forSectionIndexTitle title: String) -> Int? { titles.firstIndex(of: title) }

  private var titles: [String?] { (list?.sections ?? []).map { sectionIndexTitle($0.name) } }

  /// The results now, as ids.
  public var snapshot: FetchedResultsSnapshot { snapshot(updated: []) }

  private func snapshot(updated: Set<ManagedObjectID>) -> FetchedResultsSnapshot {
    managedObjectContext.followConversions()
    let sections = list?.sections ?? []
    return FetchedResultsSnapshot(
      sections: sections.map {
        .init(name: $0.name, value: $0.key.name, objectIDs: FetchedObjectIDs(CollectionOfOne($0)))
      },
      objectIDs: FetchedObjectIDs(sections),
      updatedObjectIDs: updated
    )
  }

  /// The results as they come: those that there are now, where there are some, then those after each event that changes them, and after
  /// each ``performFetch()``.
  ///
  /// New objects have temporary ids until they are saved, or until a child or another isolation can see them; a snapshot with their new
  /// ids comes then.
  public var snapshots: FetchedResultsSnapshots {
    let mailbox = Mailbox<FetchedResultsSnapshot>()
    readers.removeAll { $0.mailbox == nil }
    readers.append(Reader(mailbox: mailbox))
    if list != nil { mailbox.put(snapshot) }
    return FetchedResultsSnapshots(mailbox: mailbox)
  }

  private func tellReaders(updated: Set<ManagedObjectID>) {
    readers.removeAll { $0.mailbox == nil }
    if readers.isEmpty { return }
    let snapshot = snapshot(updated: updated)
    for reader in readers { reader.mailbox?.put(snapshot) }
  }
}

// MARK: Keeping up

extension FetchedResultsController: LiveResults {
  func contextDidChange(_ event: LiveEvent) { take(.event(event)) }

  func contextWasReset() {
    guard let list else { return }
    // What became of objects before makes no difference once they are gone.
    waiting = []
    take(.reset(list))
  }

  private func take(_ event: QueuedEvent) {
    waiting.append(event)
    // What a delegate does while it is told is an event of its own.
    if isTelling { return }
    isTelling = true
    defer { isTelling = false }
    while !waiting.isEmpty {
      switch waiting.removeFirst() {
      case .event(let event): take(event)
      case .move(let objects): move(objects)
      case .reset(let list): empty(list)
      }
    }
  }

  func objectsWereRenamed(_ objects: [ManagedObject]) {
    let chunks = objects.compactMap { list?.chunk(of: $0) }
    if chunks.isEmpty { return }
    for chunk in chunks { chunk.forgetIDs() }
    tellReaders(updated: [])
  }

  func objectsWereSaved(inserted: [ManagedObject], updated: [ManagedObject]) {
    guard let list else { return }
    for object in inserted + updated { list.noteSave(of: object) }
    let known = inserted.filter { list.chunk(of: $0) != nil }
    if known.isEmpty { return }
    tellReaders(updated: [])
    // What the order leaves alike is in the order of the stores, where new objects are not always last.
    if known.contains(where: list.isMisplaced) { take(.move(known)) }
  }

  private func move(_ objects: [ManagedObject]) {
    guard let query, let list else { return }
    var update = LiveListUpdate(list)
    for object in objects {
      update.note(object, query.match(ifFound: object), isChanged: false, isMisplaced: true)
    }
    finish(update)
  }

  private func empty(_ list: LiveList) {
    // Whoever was told of something may have fetched anew, also once it has been told of this.
    guard self.list === list else { return }
    var update = LiveListUpdate(list)
    for section in list.sections {
      for entry in section.chunks.flatMap(\.entries) { update.note(entry.object, nil, isChanged: true) }
    }
    finish(update)
    if self.list === list { (query, self.list, related, updateError) = (nil, nil, nil, nil) }
  }

  private func take(_ event: LiveEvent) {
    guard let query, let list else { return }
    do {
      let update = try managedObjectContext.reading { try makeUpdate(of: list, after: event, query) }
      (updateError, missed) = (nil, LiveEvent())
      if let update { finish(update) }
    } catch {
      updateError = error
      DroppedWork.log(managedObjectContext.persistentStoreCoordinator.logger, error, entity: fetchedRequest.entityName)
      missed.objects += event.objects
      missed.ids.formUnion(event.ids)
      delegate?.controller(self, didFailToUpdateWith: error)
    }
  }

  /// What becomes of the results; nil if nothing does.
  private func makeUpdate(of list: LiveList, after event: LiveEvent, _ query: LiveQuery) throws -> LiveListUpdate? {
    let touched = touched(by: event, query)
    // What has been missed is found by comparing all.
    if updateError == nil, touched.areAll, fetchedRequest.fetchLimit == nil, fetchedRequest.fetchOffset <= 0 {
      var update = LiveListUpdate(list)
      for object in touched.objects.objects {
        let match = query.match(ifFound: object)
        update.note(object, match, isChanged: touched.hasChanged(object, in: list))
      }
      return update
    }
    let isAll = touched.areAll && updateError == nil
    return touched.objects.isEmpty && isAll ? nil : try refetched(list, touched)
  }

  /// The objects of which something may have become by an event.
  private struct Touched {
    var objects = ObjectList()
    /// Those that may have been told of already, as nothing but a merge speaks of them.
    var doubtful = ObjectList()
    /// Whether the objects are all of which something may have become.
    var areAll: Bool
    /// Whether something may have become of any other object.
    let mayBeAny: Bool

    mutating func insert(_ object: ManagedObject, isDoubtful: Bool) {
      if isDoubtful {
        if !objects.contains(object) { doubtful.append(object) }
      } else {
        doubtful.remove(object)
      }
      objects.append(object)
    }

    /// Whether an object looks different from what was told last.
    func hasChanged(_ object: ManagedObject, in list: LiveList) -> Bool {
      guard mayBeAny || objects.contains(object) else { return false }
      if !objects.contains(object) { return list.entry(of: object).map { !list.order.isAsTold($0) } ?? false }
      return !doubtful.contains(object) || list.entry(of: object).map { !list.order.isAsTold($0) } ?? true
    }
  }

  private func touched(by event: LiveEvent, _ query: LiveQuery) -> Touched {
    var touched = Touched(areAll: !event.isPartial, mayBeAny: event.mayBeAny)
    func touch(_ object: ManagedObject) {
      if query.isAbout(object.entity) { touched.insert(object, isDoubtful: event.isMerge) }
      if query.dependencies.isEmpty { return }
      let dependents = related?.dependents(of: object, isRenewal: event.isRenewal, in: managedObjectContext)
      guard let dependents else {
        touched.areAll = false
        return
      }
      for dependent in dependents { touched.insert(dependent, isDoubtful: false) }
    }
    for object in event.objects { touch(object) }
    for id in event.ids where query.isAbout(id.entity) || query.dependencies.mayLead(to: id.entity) {
      if let object = managedObjectContext.objectIfPresent(id) { touch(object) }
    }
    return touched
  }

  /// Compares all with what a fetch gives now.
  private func refetched(_ list: LiveList, _ touched: Touched) throws -> LiveListUpdate {
    let query = try makeQuery(fetchedRequest)
    let matches = try query.matches()
    self.query = query
    var update = LiveListUpdate(list)
    let found = Set(matches.map { ObjectIdentifier($0.object) })
    for section in list.sections {
      for entry in section.chunks.flatMap(\.entries) where !found.contains(ObjectIdentifier(entry.object)) {
        update.note(entry.object, nil, isChanged: true)
      }
    }
    let missedObjects = Set(missed.objects)
    for match in matches where match.object is Object {
      let object = match.object
      let isMissed = missedObjects.contains(object) || missed.ids.contains(object.objectID)
      update.note(object, query.withValues(match), isChanged: isMissed || touched.hasChanged(object, in: list))
    }
    return update
  }

  private func finish(_ update: LiveListUpdate) {
    if update.isEmpty { return }
    delegate?.controllerWillChangeContent(self)
    let changes: FetchedResultsChanges<Object> = update.apply()
    if let delegate {
      for change in changes.sections { delegate.controller(self, didChangeSection: change) }
      for change in changes.objects { delegate.controller(self, didChangeObject: change) }
      delegate.controller(self, didChangeContent: changes)
      delegate.controllerDidChangeContent(self)
    }
    tellReaders(updated: changes.updatedObjectIDs)
  }
}

extension FetchedResultsChanges {
  /// The objects that are still there and look different.
  fileprivate var updatedObjectIDs: Set<ManagedObjectID> {
    Set(
      objects.compactMap { change in
        switch change {
        case .insert, .delete: nil
        case .move(let object, _, _), .update(let object, _, _): object.objectID
        }
      }
    )
  }
}
