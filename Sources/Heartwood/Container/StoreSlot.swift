import HeartwoodStore

/// What has become of one of a container's descriptions so far.
enum StoreSlot: Sendable {
  case unloaded
  case loading
  case loaded(PersistentStore)

  var isUnloaded: Bool {
    if case .unloaded = self { true } else { false }
  }
}
