import HeartwoodGraph
import HeartwoodModel
import Testing

/// A copy of live results that is changed by what the delegate is told, and by nothing else.
final class LiveMirror<Object: ManagedObject>: FetchedResultsControllerDelegate {
  struct Section {
    var name: String
    var objects: [Object]
  }

  private(set) var sections: [Section] = []
  private(set) var ids: [ManagedObjectID] = []
  /// What was told since the last time that somebody asked.
  private(set) var told: [String] = []
  private(set) var eventCount = 0
  private var isChanging = false

  init(_ controller: FetchedResultsController<Object>) {
    copy(controller)
    controller.delegate = self
  }

  func copy(_ controller: FetchedResultsController<Object>) {
    sections = controller.sections.map { Section(name: $0.name, objects: Array($0.objects)) }
    ids = controller.fetchedObjects?.map(\.objectID) ?? []
  }

  func takeTold() -> [String] {
    defer { told = [] }
    return told
  }

  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {
    #expect(!isChanging)
    isChanging = true
    // The results are still what they were.
    #expect(controller.sections.map(\.name) == sections.map(\.name))
    #expect(controller.numberOfObjects == sections.reduce(0) { $0 + $1.objects.count })
  }

  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeSection change: FetchedResultsSectionChange
  ) {
    switch change {
    case .insert(let name, let place): told.append("+[\(name)] \(place)")
    case .delete(let name, let place): told.append("-[\(name)] \(place)")
    }
  }

  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeObject change: FetchedResultsObjectChange<Object>
  ) {
    switch change {
    case .insert(_, let place): told.append("+\(place)")
    case .delete(_, let place): told.append("-\(place)")
    case .move(_, let from, let to): told.append("\(from)>\(to)")
    case .update(_, let from, let to): told.append("\(from)~\(to)")
    }
  }

  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContent changes: FetchedResultsChanges<Object>
  ) {
    apply(changes)
    // New objects may have got other ids; what a difference takes out it names as it was.
    let old = ids.count
    guard let new = ids.applying(changes.difference) else {
      Issue.record("The difference does not fit \(old) objects.")
      return
    }
    ids = new
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {
    #expect(isChanging)
    isChanging = false
    eventCount += 1
  }

  private func apply(_ changes: FetchedResultsChanges<Object>) {
    var taken: [(FetchedResultsIndexPath, Object)] = []
    var given: [(FetchedResultsIndexPath, Object)] = []
    for change in changes.objects {
      switch change {
      case .insert(let object, let to): given.append((to, object))
      case .delete(let object, let from): taken.append((from, object))
      case .move(let object, let from, let to):
        taken.append((from, object))
        given.append((to, object))
      case .update(let object, let from, _): #expect(sections[from.section].objects[from.item] === object)
      }
    }
    for (path, object) in taken.sorted(by: { $0.0 > $1.0 }) {
      #expect(sections[path.section].objects.remove(at: path.item) === object)
    }
    for case .delete(let name, let place) in changes.sections.reversed() {
      let section = sections.remove(at: place)
      #expect(section.name == name && section.objects.isEmpty)
    }
    for case .insert(let name, let place) in changes.sections {
      sections.insert(Section(name: name, objects: []), at: place)
    }
    for (path, object) in given.sorted(by: { $0.0 < $1.0 }) {
      sections[path.section].objects.insert(object, at: path.item)
    }
    for case .update(let object, _, let to) in changes.objects {
      #expect(sections[to.section].objects[to.item] === object)
    }
  }

  /// Whether the copy is what the controller has.
  func check(_ controller: FetchedResultsController<Object>, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(controller.sections.map(\.name) == sections.map(\.name), sourceLocation: sourceLocation)
    #expect(controller.sections.map { Array($0.objects) } == sections.map(\.objects), sourceLocation: sourceLocation)
    let objects = sections.flatMap(\.objects)
    #expect(controller.fetchedObjects.map(Array.init) == objects, sourceLocation: sourceLocation)
    #expect(controller.numberOfObjects == objects.count, sourceLocation: sourceLocation)
    #expect(ids.count == objects.count, sourceLocation: sourceLocation)
    let snapshot = controller.snapshot
    #expect(Array(snapshot.objectIDs) == objects.map(\.objectID), sourceLocation: sourceLocation)
    #expect(
      snapshot.sections.map { Array($0.objectIDs) } == sections.map { $0.objects.map(\.objectID) },
      sourceLocation: sourceLocation
    )
    for (number, section) in sections.enumerated() {
      for (item, object) in section.objects.enumerated() {
        let path = FetchedResultsIndexPath(section: number, item: item)
        #expect(controller.indexPath(for: object) == path, sourceLocation: sourceLocation)
        #expect(controller.object(at: path) === object, sourceLocation: sourceLocation)
      }
    }
  }
}
