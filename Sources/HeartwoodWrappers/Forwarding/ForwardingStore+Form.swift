package import HeartwoodStore

extension ForwardingStore {
  /// Asks the store inside, if its files have several forms.
  package static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions {
    guard let base = Base.self as? any FormKeepingStore.Type else { return options }
    return try base.options(options, keepingFormOf: file, setup)
  }
}

extension LoggingStore: FormKeepingStore {}
extension ReadOnlyStore: FormKeepingStore {}
extension FaultInjectingStore: FormKeepingStore {}
