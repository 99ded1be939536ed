import HeartwoodModel

/// Records the state of the objects of a context before the current event changes them.
///
/// A context has one while it has an undo manager; without one, nothing is recorded.
final class EventRecorder {
  let undoManager: GraphUndoManager
  /// Whether changes are not recorded, since they follow from saves of others.
  private var isPaused = false
  private var images: [ObjectImage] = []
  private var places: [ObjectIdentifier: Int] = [:]
  /// The ids that have replaced others: permanent ones by a save, and new ones if an object was restored whose deletion
  /// was saved.
  private var successors: [ManagedObjectID: ManagedObjectID] = [:]
  /// The ids of new objects that were removed since the last save.
  private var vanished: Set<ManagedObjectID> = []
  /// The ids of new objects that were removed before a save: references to them were saved without them.
  private var forgotten: Set<ManagedObjectID> = []
  /// The number of ids that are kept before unused ones are looked for.
  private var idLimit = EventRecorder.fewIDs
  private static let fewIDs = 1000

  init(_ undoManager: GraphUndoManager) {
    self.undoManager = undoManager
  }
}

// MARK: Before a change

extension EventRecorder {
  /// Calls `body`, whose changes follow from saves of others, and cannot be undone.
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
  /// Returns what has happened since the last call; nil if nothing has.
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

  /// Returns the values that properties of an object had before the current event.
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

  /// Replaces the ids in everything that can be undone in `context` by the present ones.
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

  /// Notes that the present state was saved, without references to new objects that were removed.
  func noteSave() {
    forgotten.formUnion(vanished)
    vanished = []
  }

  /// Returns whether the object of `id` was removed before it was ever saved, and references to it were saved without
  /// it.
  func isForgotten(_ id: ManagedObjectID) -> Bool { forgotten.contains(id) }

  /// Takes the ids that another recorder has noted meanwhile.
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

  /// The number of ids that are kept because undo events may refer to them.
  var idCount: Int { successors.count + forgotten.count }

  var hasManyIDs: Bool { idCount > idLimit }

  /// Removes the ids that are neither in the current event nor in `events`, all that can be undone or redone.
  func forgetIDs(exceptIn events: [GraphEvent]) {
    var named: Set<ManagedObjectID> = []
    func name(_ ids: [ManagedObjectID]) {
      for first in ids {
        // The successors of an id are kept with it.
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
    // The cost of the search is amortised over as many new ids.
    idLimit = idCount + max(Self.fewIDs, named.count)
  }

  /// Returns the present id of the object of `id`.
  func newestID(_ id: ManagedObjectID) -> ManagedObjectID {
    var id = id
    while let successor = successors[id] { id = successor }
    return id
  }
}

// MARK: GraphEvent

/// The changes of one event in the objects of a context.
struct GraphEvent {
  /// The new objects.
  var insertions: [ManagedObject] = []
  /// The objects that were restored from their deletion.
  var revivals: [ManagedObject] = []
  /// The objects that were removed.
  var deletions: [ManagedObject] = []
  /// The changes of the properties of all objects that are not new.
  var edits: [PropertyEdit] = []

  var isEmpty: Bool { insertions.isEmpty && revivals.isEmpty && deletions.isEmpty && edits.isEmpty }

  /// The objects that the event has changed, possibly with duplicates.
  var objects: [ManagedObject] { insertions + revivals + deletions + edits.map(\.object) }
}

extension GraphEvent {
  /// Returns the same event with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> GraphEvent {
    var event = self
    event.edits = edits.map { $0.map(transform) }
    return event
  }

  /// Creates the event between `images` and the present state of their objects.
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

/// The state of an object before the current event.
struct ObjectImage {
  let object: ManagedObject
  /// Whether the context had the object.
  let wasPresent: Bool
  /// Whether the event has created the object: then its properties had no former values.
  let isNew: Bool
  /// The properties that the event has changed, by ordinal.
  var properties: [Int: PropertyImage] = [:]
}

/// The state of a property before the current event.
struct PropertyImage {
  let value: PropertyValue
  /// Whether the value needed no saving.
  let isSettled: Bool
}
