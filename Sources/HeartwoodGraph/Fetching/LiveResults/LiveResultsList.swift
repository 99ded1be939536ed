import HeartwoodModel

/// What has happened in a context, for results that keep up with it.
struct LiveEvent {
  /// Objects that have been inserted, changed, deleted or refreshed.
  var objects: [ManagedObject] = []
  /// The ids of records that others have inserted or changed, of which there need be no object.
  var ids: Set<ManagedObjectID> = []
  /// Whether the objects may be of another version of their records than before.
  var isRenewal = false
  /// Whether what others have saved is merged, which may have been told before: the same save comes by several ways.
  var isMerge = false
  /// Whether there may be more that has happened than is told.
  var isPartial = false
}

/// Results that keep up with a context.
protocol LiveResults: AnyObject {
  func contextDidChange(_ event: LiveEvent)
  /// New objects have other ids than before.
  func objectsWereRenamed(_ objects: [ManagedObject])
  /// The changes of objects are in their records now, and new ones have their permanent ids.
  func objectsWereSaved(inserted: [ManagedObject], updated: [ManagedObject])
  /// The context has let all objects go.
  func contextWasReset()
}

/// The live results of a context, none of which it holds.
final class LiveResultsList {
  private struct Member {
    weak var results: (any LiveResults)?
  }

  private var members: [Member] = []

  /// Whether there may be none. Those that are gone are noticed when something is told.
  var isEmpty: Bool { members.isEmpty }

  func insert(_ results: any LiveResults) {
    members.removeAll { $0.results == nil || $0.results === results }
    members.append(Member(results: results))
  }

  func tell(_ event: LiveEvent) {
    if isEmpty || event.objects.isEmpty && event.ids.isEmpty && !event.isPartial { return }
    forEach { $0.contextDidChange(event) }
  }

  func objectsWereRenamed(_ objects: [ManagedObject]) {
    if !objects.isEmpty { forEach { $0.objectsWereRenamed(objects) } }
  }

  func objectsWereSaved(inserted: [ManagedObject], updated: [ManagedObject]) {
    forEach { $0.objectsWereSaved(inserted: inserted, updated: updated) }
  }

  func contextWasReset() {
    forEach { $0.contextWasReset() }
  }

  private func forEach(_ body: (any LiveResults) -> Void) {
    members.removeAll { $0.results == nil }
    for results in members.compactMap(\.results) { body(results) }
  }
}
