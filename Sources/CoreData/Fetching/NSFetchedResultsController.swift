public import Foundation
import HeartwoodModel

/// A section of a results controller.
public protocol NSFetchedResultsSectionInfo {
  /// The name, which the objects of the section share.
  var name: String { get }
  /// The title in an index: the first letter of the name, as a capital.
  var indexTitle: String? { get }
  /// The number of objects.
  var numberOfObjects: Int { get }
  /// The objects.
  var objects: [Any]? { get }
}

/// What has become of an object or a section.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  case insert = 1
  case delete = 2
  case move = 3
  case update = 4
}

/// Hears of the changes of a results controller. All functions may be left out.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  /// The results are about to change.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  /// A section was inserted or deleted.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  )
  /// An object was inserted, deleted, moved or updated.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType,
    newIndexPath: IndexPath?
  )
  /// The results have changed.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType,
    newIndexPath: IndexPath?
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
}

// MARK: NSFetchedResultsController

/// The objects of a fetch, in sections, as they are from now on: when the context has changed, the delegate hears what
/// has become of them.
///
/// It fetches again at the end of each event of the context that changes objects.
open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: NSObject {
  /// The request; it needs a sort descriptor.
  public final let fetchRequest: NSFetchRequest<ResultType>
  /// The context of the objects.
  public final let managedObjectContext: NSManagedObjectContext
  /// The key path by whose values the objects are put into sections; nil for one section.
  public final let sectionNameKeyPath: String?
  /// The name that was given for a cache. There are no caches: a fetch is made in any case.
  public final let cacheName: String?
  /// Hears of changes.
  open weak var delegate: (any NSFetchedResultsControllerDelegate)?

  private final var results: FetchedSections?
  private final var observer: (any NSObjectProtocol)?

  /// Creates a controller, which fetches nothing yet.
  public init(
    fetchRequest: NSFetchRequest<ResultType>,
    managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?,
    cacheName name: String?
  ) {
    ProgrammerError.check(
      fetchRequest.sortDescriptors != nil,
      "The request of a results controller needs sort descriptors, if only an empty list of them."
    )
    self.fetchRequest = fetchRequest
    managedObjectContext = context
    self.sectionNameKeyPath = sectionNameKeyPath
    cacheName = name
  }

  deinit {
    if let observer { NotificationCenter.default.removeObserver(observer) }
  }

  /// Deletes a cache, or all. There are none.
  open class func deleteCache(withName name: String?) {}

  /// Fetches the objects, and follows the changes of the context from now on.
  open func performFetch() throws {
    results = try fetched()
    guard observer == nil else { return }
    // The notification is posted where the context is used, and nowhere else is the controller used.
    let controller = Work(WeakController(controller: self))
    observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange,
      object: managedObjectContext,
      queue: nil
    ) { controller.body.controller?.update(after: $0) }
  }

  private struct WeakController {
    weak var controller: NSFetchedResultsController?
  }

  private final func fetched() throws -> FetchedSections {
    let objects = try managedObjectContext.fetch(fetchRequest).map { $0 as AnyObject }
    return FetchedSections(objects, by: sectionNameKeyPath)
  }

  // MARK: Results

  /// The objects; nil before the first fetch.
  open var fetchedObjects: [ResultType]? { results?.objects.compactMap { $0 as? ResultType } }

  /// The sections; nil before the first fetch.
  open var sections: [any NSFetchedResultsSectionInfo]? { results?.sections }

  /// The titles of the sections in an index.
  open var sectionIndexTitles: [String] {
    var titles: [String] = []
    for title in (results?.sections ?? []).compactMap(\.indexTitle) where titles.last != title { titles.append(title) }
    return titles
  }

  /// Returns the object at an index path, which must be there.
  open func object(at indexPath: IndexPath) -> ResultType {
    guard indexPath.count == 2, let sections = results?.sections, sections.indices.contains(indexPath.section),
      sections[indexPath.section].members.indices.contains(indexPath.item),
      let object = sections[indexPath.section].members[indexPath.item] as? ResultType
    else { ProgrammerError.stop("There is no object at \(indexPath).") }
    return object
  }

  /// Returns the index path of an object; nil if it is not among the results.
  open func indexPath(forObject object: ResultType) -> IndexPath? { results?.indexPath(of: object as AnyObject) }

  // MARK: Following

  private final func update(after notification: Notification) {
    guard let former = results else { return }
    // try?: what cannot be fetched now stays as it was, and the next event tries again.
    guard let current = try? fetched() else { return }
    var touched: Set<ObjectIdentifier> = []
    for key in [NSUpdatedObjectsKey, NSRefreshedObjectsKey] {
      for object in notification.userInfo?[key] as? Set<NSManagedObject> ?? [] {
        touched.insert(ObjectIdentifier(object))
      }
    }
    let changes = FetchedChanges(from: former, to: current, touched)
    results = current
    if !changes.isEmpty { tell(changes) }
  }

  private final func tell(_ changes: FetchedChanges) {
    guard let delegate else { return }
    // The delegate's functions are declared for controllers of any results; the class keeps nothing of their type.
    let controller = Unmanaged<NSFetchedResultsController<any NSFetchRequestResult>>
      .fromOpaque(Unmanaged.passUnretained(self).toOpaque()).takeUnretainedValue()
    delegate.controllerWillChangeContent(controller)
    for change in changes.sections {
      delegate.controller(controller, didChange: change.section, atSectionIndex: change.index, for: change.type)
    }
    for change in changes.objects {
      delegate.controller(
        controller,
        didChange: change.object,
        at: change.former,
        for: change.type,
        newIndexPath: change.current
      )
    }
    delegate.controllerDidChangeContent(controller)
  }
}

// MARK: FetchedSections

/// Fetched objects in their sections.
private struct FetchedSections {
  struct Section: NSFetchedResultsSectionInfo {
    let name: String
    var members: [AnyObject] = []

    var indexTitle: String? { name.first.map { $0.uppercased() } }
    var numberOfObjects: Int { members.count }
    var objects: [Any]? { members }
  }

  private(set) var sections: [Section] = []
  private var places: [ObjectIdentifier: IndexPath] = [:]

  init(_ objects: [AnyObject], by keyPath: String?) {
    if keyPath == nil { sections = [Section(name: "")] }
    for object in objects {
      let name = keyPath.map { Self.name(of: object, $0) } ?? ""
      if sections.last?.name != name { sections.append(Section(name: name)) }
      let section = sections.count - 1
      places[ObjectIdentifier(object)] = IndexPath(item: sections[section].members.count, section: section)
      sections[section].members.append(object)
    }
  }

  private static func name(of object: AnyObject, _ keyPath: String) -> String {
    let value = KeyValueCoding.value(of: object, keyPath.split(separator: ".").map(String.init))
    return value.map { "\($0)" } ?? ""
  }

  var objects: [AnyObject] { sections.flatMap(\.members) }

  func indexPath(of object: AnyObject) -> IndexPath? { places[ObjectIdentifier(object)] }
}

// MARK: FetchedChanges

/// What leads from some results to others.
private struct FetchedChanges {
  struct SectionChange {
    let section: FetchedSections.Section
    let index: Int
    let type: NSFetchedResultsChangeType
  }

  struct ObjectChange {
    let object: AnyObject
    let former: IndexPath?
    let type: NSFetchedResultsChangeType
    let current: IndexPath?
  }

  private(set) var sections: [SectionChange] = []
  private(set) var objects: [ObjectChange] = []

  var isEmpty: Bool { sections.isEmpty && objects.isEmpty }

  init(from former: FetchedSections, to current: FetchedSections, _ touched: Set<ObjectIdentifier>) {
    noteSections(former, current)
    let moved = Self.moved(former, current, touched)
    for object in former.objects {
      let (place, new) = (former.indexPath(of: object), current.indexPath(of: object))
      if new == nil {
        objects.append(ObjectChange(object: object, former: place, type: .delete, current: nil))
      } else if moved.contains(ObjectIdentifier(object)) {
        objects.append(ObjectChange(object: object, former: place, type: .move, current: new))
      } else if touched.contains(ObjectIdentifier(object)) {
        objects.append(ObjectChange(object: object, former: place, type: .update, current: new))
      }
    }
    for object in current.objects where former.indexPath(of: object) == nil {
      let new = current.indexPath(of: object)
      objects.append(ObjectChange(object: object, former: nil, type: .insert, current: new))
    }
  }

  private mutating func noteSections(_ former: FetchedSections, _ current: FetchedSections) {
    let difference = current.sections.map(\.name).difference(from: former.sections.map(\.name))
    for removal in difference.removals {
      guard case .remove(let index, _, _) = removal else { continue }
      sections.append(SectionChange(section: former.sections[index], index: index, type: .delete))
    }
    for insertion in difference.insertions {
      guard case .insert(let index, _, _) = insertion else { continue }
      sections.append(SectionChange(section: current.sections[index], index: index, type: .insert))
    }
  }

  /// The objects that have another place among those that stay, or another section. If two have changed places, it is
  /// the touched one that has moved.
  private static func moved(
    _ former: FetchedSections,
    _ current: FetchedSections,
    _ touched: Set<ObjectIdentifier>
  ) -> Set<ObjectIdentifier> {
    let staying = (
      former: former.objects.filter { current.indexPath(of: $0) != nil }.map(ObjectIdentifier.init),
      current: current.objects.filter { former.indexPath(of: $0) != nil }.map(ObjectIdentifier.init)
    )
    var moved = moved(staying.former.filter { !touched.contains($0) }, staying.current.filter { !touched.contains($0) })
    // A touched object has stayed if as many of those that stay are before it as were.
    var checked = touched
    for object in staying.former where touched.contains(object) {
      func countBefore(_ objects: [ObjectIdentifier]) -> Int {
        objects.prefix { $0 != object }.count { !checked.contains($0) && !moved.contains($0) }
      }
      if countBefore(staying.former) == countBefore(staying.current) {
        checked.remove(object)
      } else {
        moved.insert(object)
      }
    }
    for object in former.objects where !moved.contains(ObjectIdentifier(object)) {
      guard let old = former.indexPath(of: object), let new = current.indexPath(of: object) else { continue }
      if former.sections[old.section].name != current.sections[new.section].name {
        moved.insert(ObjectIdentifier(object))
      }
    }
    return moved
  }

  private static func moved(_ former: [ObjectIdentifier], _ current: [ObjectIdentifier]) -> Set<ObjectIdentifier> {
    if former == current { return [] }
    return Set(
      current.difference(from: former).insertions.compactMap { change -> ObjectIdentifier? in
        if case .insert(_, let object, _) = change { object } else { nil }
      }
    )
  }
}

// MARK: IndexPath

// On Apple's systems these come with the frameworks for user interfaces.

extension IndexPath {
  /// Creates an index path of a section and an item in it.
  public init(item: Int, section: Int) { self = [section, item] }

  /// Creates an index path of a section and a row in it.
  public init(row: Int, section: Int) { self = [section, row] }

  /// The section.
  public var section: Int { self[0] }
  /// The item in its section.
  public var item: Int { self[1] }
  /// The row in its section.
  public var row: Int { self[1] }
}
