import Heartwood

/// A store that names a model although it has declared that it has none.
final class UndeclaredModelStore: AtomicStore, StoreClass {
  static let typeDescription = FlawedStore<NoFlaw>.typeDescription
  private let store: FlawedStore<NoFlaw>

  init(_ setup: StoreSetup) throws {
    store = try FlawedStore(setup)
  }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try FlawedStore<NoFlaw>.readMetadata(from: file, options: options)
  }

  static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try ManagedObjectModel(entities: [])
  }

  func load(_ file: StoreInput, into loader: StoreLoader) throws { try store.load(file, into: loader) }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try store.save(&contents, over: previous, to: output)
  }
}
