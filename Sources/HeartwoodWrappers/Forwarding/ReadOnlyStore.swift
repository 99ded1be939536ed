public import HeartwoodStore

/// Any atomic store, of which no file is ever written, replaced or removed: for files that belong to somebody else.
///
/// Unlike the option ``StoreOptionKey/isReadOnly``, which whoever opens a store may leave out, this holds wherever the type is
/// used. Whoever names the type of the store inside may write the file.
public final class ReadOnlyStore<Base: AtomicStore>: ForwardingStore {
  /// `ReadOnly`.
  public static var name: String { "ReadOnly" }
  /// `Read-only`.
  public static var displayName: String { "Read-only" }
  /// True: the files belong to somebody else.
  public static var isReadOnly: Bool { true }

  private let base: Base
  private let path: String?

  /// Makes the store inside.
  public init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    path = setup.path
  }

  /// Lets the store inside load the file.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try base.load(file, into: loader)
    loader.metadata.storeType = Self.typeDescription.type
  }

  /// Refuses: nothing is ever written.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly``.
  public func validate(_ contents: StoreContents) throws {
    throw PersistenceError(
      .storeReadOnly,
      "Stores of this type are never written.",
      recovery: "Open the file as \(Base.typeDescription.type) to change it.",
      context: .init(path: path, storeType: Self.typeDescription.type)
    )
  }

  /// Refuses as ``validate(_:)`` does.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try validate(contents)
  }
}

extension ReadOnlyStore: SalvagingStore {
  /// Lets the store inside read what is sound.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    try salvage.read(base, from: file, options: StoreOptions())
  }
}
