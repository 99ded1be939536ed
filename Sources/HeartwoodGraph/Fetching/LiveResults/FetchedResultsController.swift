import HeartwoodModel
import HeartwoodStore

/// The results of a fetch, in sections, kept up to date with the changes in a context.
///
///     let controller = FetchedResultsController(
///       FetchRequest<ToDo>(where: ToDo.doneKey == false, sortedBy: [ToDo.dueKey.ascending]),
///       in: context,
///       sectionedBy: .keyPath("list.name")
///     )
///     try controller.performFetch()
///
/// It updates the results when an event of the context ends: at ``ManagedObjectContext/processPendingChanges()``, a
/// save, a merge, a refresh, or the end of a ``BackgroundContext/perform(_:)``; in a ``ViewContext``, as soon as the
/// main actor is free. It evaluates only the objects that have changed, and those that depend on them over
/// relationships of the predicate, the sort descriptors and the sections: an event costs O(changes · log objects). If
/// the request has a limit or an offset, or if a relationship whose destination has changed has no inverse, it fetches
/// again after each event.
///
/// It reports changes to the ``delegate`` and in ``snapshots``. A controller belongs to the isolation of its context,
/// which it retains, together with the objects that it has found. `now()` in a predicate is the time of
/// ``performFetch()``.
public final class FetchedResultsController<Object: ManagedObject> {
  /// The request for the results. Its ``FetchRequest/includesPendingChanges`` is ignored: pending changes are always
  /// considered. After changing the request, call ``performFetch()``.
  public var fetchRequest: FetchRequest<Object>
  /// The key that divides the results into sections; nil if all objects are in one.
  public let sectionKey: FetchedResultsSectionKey<Object>?
  /// The context of the results.
  public let managedObjectContext: ManagedObjectContext
  /// The delegate that is notified of changes of the results.
  public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?
  /// The function that returns the index title for the name of a section: by default, its first character as a capital.
  public var sectionIndexTitle: (String) -> String? = { $0.first.map { $0.uppercased() } }

  /// The request of the present results, until the next ``performFetch()``.
  private var fetchedRequest: FetchRequest<Object>
  private var query: LiveQuery?
  private var list: LiveList?
  private var related: RelatedValues?
  /// The events that have happened while another one was reported.
  private var waiting: [QueuedEvent] = []
  private var isTelling = false
  private var readers: [Reader] = []
  /// The error that has prevented the last update; nil if the results are up to date. The delegate is notified of it.
  /// The next event, or ``performFetch()``, catches up on what was missed.
  public private(set) var updateError: (any Error)?
  /// The events that could not be applied.
  private var missed = LiveEvent()

  private enum QueuedEvent {
    case event(LiveEvent)
    /// A save has given new objects in the results another place.
    case move([ManagedObject])
    /// The context was reset while these were the results.
    case reset(LiveList)
  }

  private struct Reader {
    weak var mailbox: Mailbox<FetchedResultsSnapshot>?
  }

  /// Creates a controller without results. Call ``performFetch()`` to fetch them.
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

  /// Creates a controller with a section for each value at a key path, as Core Data's does.
  ///
  /// If the first sort descriptor has the same key path, the sections are in its order; otherwise they are in the order
  /// of their values. For sections in another order, see ``FetchedResultsSectionKey/sorted(by:name:)``.
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
  /// Fetches the results, and keeps them up to date with the context from then on. The delegate is not notified of
  /// this.
  ///
  /// - Throws: the errors of ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``; also an error if a key path of
  ///   the sections does not fit. Then the results stay as they were.
  public func performFetch() throws {
    // Earlier events are reported for the former results.
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

  /// The sections; empty before the first ``performFetch()``, and if there are no objects. Without a ``sectionKey``,
  /// all objects are in one section without a name.
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

  /// The number of objects; 0 before the first ``performFetch()``.
  public var numberOfObjects: Int { list?.count ?? 0 }

  /// Returns the object at an index path; nil if there is none. O(log objects).
  public func object(at indexPath: FetchedResultsIndexPath) -> Object? {
    list?.object(section: indexPath.section, item: indexPath.item) as? Object
  }

  /// Returns the index path of an object; nil if it is not among the results. O(log objects).
  public func indexPath(for object: Object) -> FetchedResultsIndexPath? {
    list?.place(of: object).map { FetchedResultsIndexPath(section: $0.section.ordinal, item: $0.item) }
  }

  /// The titles of the sections in an index, in their order; equal neighbours appear once.
  public var sectionIndexTitles: [String] {
    titles.reduce(into: []) { titles, title in
      if let title, titles.last != title { titles.append(title) }
    }
  }

  /// Returns the first section with an index title; nil if there is none.
  public func section(forSectionIndexTitle title: String) -> Int? { titles.firstIndex(of: title) }

  private var titles: [String?] { (list?.sections ?? []).map { sectionIndexTitle($0.name) } }

  /// The current results, as ids.
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

  /// The results as a sequence: the current ones if there are any, then those after each event that changes them, and
  /// after each ``performFetch()``.
  ///
  /// New objects have temporary ids until they are saved, or until a child or another isolation can see them; then a
  /// snapshot with their new ids follows.
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
    // Earlier changes of the objects are irrelevant once they are gone.
    waiting = []
    take(.reset(list))
  }

  private func take(_ event: QueuedEvent) {
    waiting.append(event)
    // Changes that a delegate makes during a notification are an event of their own.
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
    // Objects with equal sort keys are in the order of the stores, in which new objects are not always last.
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
    // The delegate may have fetched again, even while it was notified of this event.
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

  /// Returns the update of the results; nil if there is none.
  private func makeUpdate(of list: LiveList, after event: LiveEvent, _ query: LiveQuery) throws -> LiveListUpdate? {
    let touched = touched(by: event, query)
    // What was missed is found by comparing all results.
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

  /// The objects that an event may have affected.
  private struct Touched {
    var objects = ObjectList()
    /// The objects that may have been reported already, since only a merge mentions them.
    var doubtful = ObjectList()
    /// Whether no other objects may have been affected.
    var areAll: Bool
    /// Whether any other object may have been affected.
    let mayBeAny: Bool

    mutating func insert(_ object: ManagedObject, isDoubtful: Bool) {
      if isDoubtful {
        if !objects.contains(object) { doubtful.append(object) }
      } else {
        doubtful.remove(object)
      }
      objects.append(object)
    }

    /// Returns whether an object differs from its last reported state.
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

  /// Compares all results with those of a new fetch.
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
  /// The objects that are still there and have changed.
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
