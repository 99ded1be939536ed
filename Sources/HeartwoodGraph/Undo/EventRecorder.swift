import HeartwoodModel

/// Notes how the objects of a context were before the current event changed them.
///
/// A context has one while it has an undo manager; without one, nothing is noted.
final class EventRecorder {
  let undoManager: GraphUndoManager
  /// Whether changes are not noted, since they follow from what others have saved.
  private var isPaused = false
  private var images: [ObjectImage] = []
  private var places: [ObjectIdentifier: Int] = [:]
  /// The ids that objects have got in place of others: permanent ones by a save, and new ones where an object came back whose
  /// deletion was saved.
  private var successors: [ManagedObjectID: ManagedObjectID] = [:]
  /// The ids of new objects that went since the last save.
  private var vanished: Set<ManagedObjectID> = []
  /// The ids of new objects that were gone when all was saved: what led to them leads nowhere since.
  private var forgotten: Set<ManagedObjectID> = []
  /// How many ids are noted at most before it is looked which of them nothing names any more.
  private var idLimit = EventRecorder.fewIDs
  private static let fewIDs = 1000

  init(_ undoManager: GraphUndoManager) {
    self.undoManager = undoManager
  }
}

// MARK: Before a change

extension EventRecorder {
  /// Calls `body`, whose changes follow from what others have saved, and cannot be undone.
  func pausing(_ body: () -> Void) {
    isPaused = true
    body()
    isPaused = false
  }

  func willChange(_ object: ManagedObject, _ ordinal: Int) {
    if isPaused { return }
    let place = place(of: object, wasPresent: true)
    guard !images[place].isNew, images[place].properties[ordinal] == nil else { return }
    images[place].properties[ordinal] = PropertyImage(
      value: object.value(at: ordinal),
      isSettled: object.isSettled(ordinal)
    )
  }

  func willRemove(_ object: ManagedObject) {
    if object.isInserted { vanished.insert(object.objectID) }
    _ = place(of: object, wasPresent: true)
  }

  func willInsert(_ object: ManagedObject) {
    _ = place(of: object, wasPresent: false, isNew: true)
  }

  func willRevive(_ object: ManagedObject) {
    vanished.remove(object.objectID)
    forgotten.remove(object.objectID)
    _ = place(of: object, wasPresent: false, isNew: object.state.contains(.uninserted))
  }

  private func place(of object: ManagedObject, wasPresent: Bool, isNew: Bool = false) -> Int {
    if let place = places[ObjectIdentifier(object)] { return place }
    places[ObjectIdentifier(object)] = images.count
    images.append(ObjectImage(object: object, wasPresent: wasPresent, isNew: isNew))
    return images.count - 1
  }
}

// MARK: The event

extension EventRecorder {
  /// What has happened since the last call; nil where nothing has.
  func takeEvent() -> GraphEvent? {
    guard !images.isEmpty else { return nil }
    let event = GraphEvent(since: images)
    forgetEvent()
    return event.isEmpty ? nil : event
  }

  func forgetEvent() {
    images = []
    places = [:]
  }

  /// The values that properties of an object had before the current event.
  func properties(of object: ManagedObject) -> [Int: PropertyImage] {
    places[ObjectIdentifier(object)].map { images[$0].properties } ?? [:]
  }
}

// MARK: Ids

extension EventRecorder {
  var hasSuccessors: Bool { !successors.isEmpty }

  func noteSuccessors(_ ids: [ManagedObjectID: ManagedObjectID]) {
    for (id, successor) in ids where id != successor { successors[id] = successor }
  }

  /// Lets all that can be undone in `context` name records as they are called now.
  func takeNames(in context: ManagedObjectContext, _ newID: (ManagedObjectID) -> ManagedObjectID) {
    for index in images.indices {
      images[index].properties = images[index].properties.mapValues { image in
        PropertyImage(value: image.value.map(newID), isSettled: image.isSettled)
      }
    }
    var gone = Set(images.lazy.map(\.object).filter { $0.state.contains(.detached) })
    undoManager.replaceEvents(of: context) { event in
      gone.formUnion(event.deletions.filter { $0.state.contains(.detached) })
      return event.map(newID)
    }
    for object in gone { object.takeNames(newID) }
    var newSuccessors: [ManagedObjectID: ManagedObjectID] = [:]
    for (id, successor) in successors where newID(id) != newID(successor) {
      newSuccessors[newID(id)] = newID(successor)
    }
    successors = newSuccessors
    vanished = Set(vanished.map(newID))
    forgotten = Set(forgotten.map(newID))
  }

  /// Notes that what there is was saved, and with it that nothing leads to new objects which are gone.
  func noteSave() {
    forgotten.formUnion(vanished)
    vanished = []
  }

  /// Whether the object of `id` was gone before it was ever saved, and what led to it was saved without it.
  func isForgotten(_ id: ManagedObjectID) -> Bool { forgotten.contains(id) }

  /// Takes what another one has noted of ids meanwhile.
  func noteIDs(of other: EventRecorder) {
    noteSuccessors(other.successors)
    vanished.formUnion(other.vanished)
    forgotten.formUnion(other.forgotten)
  }

  func forgetIDs() {
    successors = [:]
    vanished = []
    forgotten = []
    idLimit = Self.fewIDs
  }

  /// How many ids are noted that may be named by what can be undone.
  var idCount: Int { successors.count + forgotten.count }

  var hasManyIDs: Bool { idCount > idLimit }

  /// Forgets the ids that are named neither by the current event nor by `events`, which are all that can be undone or redone.
  func forgetIDs(exceptIn events: [GraphEvent]) {
    var named: Set<ManagedObjectID> = []
    func name(_ ids: [ManagedObjectID]) {
      for first in ids {
        // With an id goes what came in its place.
        var next: ManagedObjectID? = first
        while let id = next, named.insert(id).inserted { next = successors[id] }
      }
    }
    for image in images {
      for property in image.properties.values { name(property.value.objectIDs) }
      if !image.object.isPresent { name(image.object.linkedIDs) }
    }
    for event in events {
      for edit in event.edits { name(edit.ids) }
      for object in event.deletions { name(object.linkedIDs) }
    }
    successors = successors.filter { named.contains($0.key) }
    forgotten.formIntersection(named)
    // What it has cost to look is paid for by as many new ids.
    idLimit = idCount + max(Self.fewIDs, named.count)
  }

  /// The id that the object of `id` has today.
  func newestID(_ id: ManagedObjectID) -> ManagedObjectID {
    var id = id
    while let successor = successors[id] { id = successor }
    return id
  }
}

// MARK: GraphEvent

/// What one event did to the objects of a context.
struct GraphEvent {
  /// The objects that came, and were nothing before.
  var insertions: [ManagedObject] = []
  /// The objects that came back from their deletion.
  var revivals: [ManagedObject] = []
  /// The objects that went.
  var deletions: [ManagedObject] = []
  /// What became of the properties of all but those that are new.
  var edits: [PropertyEdit] = []

  var isEmpty: Bool { insertions.isEmpty && revivals.isEmpty && deletions.isEmpty && edits.isEmpty }

  /// The objects that the event has touched. One may be there several times.
  var objects: [ManagedObject] { insertions + revivals + deletions + edits.map(\.object) }
}

extension GraphEvent {
  /// The same event with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> GraphEvent {
    var event = self
    event.edits = edits.map { $0.map(transform) }
    return event
  }

  /// What made the objects of today of `images`.
  init(since images: [ObjectImage]) {
    for image in images {
      switch (image.wasPresent, image.object.isPresent) {
      case (false, false): continue
      case (false, true) where image.isNew: insertions.append(image.object)
      case (false, true): revivals.append(image.object)
      case (true, false): deletions.append(image.object)
      case (true, true): break
      }
      for (ordinal, property) in image.properties.sorted(by: { $0.key < $1.key }) {
        if let edit = PropertyEdit(image.object, ordinal, since: property) { edits.append(edit) }
      }
    }
  }
}

// MARK: ObjectImage

/// How an object was before the current event.
struct ObjectImage {
  let object: ManagedObject
  /// Whether the context had the object.
  let wasPresent: Bool
  /// Whether the event has made the object: then its properties were nothing before.
  let isNew: Bool
  /// The properties that the event has touched, by ordinal.
  var properties: [Int: PropertyImage] = [:]
}

/// How a property was before the current event.
struct PropertyImage {
  let value: PropertyValue
  /// Whether the value needed no saving.
  let isSettled: Bool
}
