/// Settings of one store, by typed keys.
///
///     var options = StoreOptions()
///     options[.isReadOnly] = true
///
/// A store author declares keys of their own: `extension StoreOptionKey<Int> { static let pageSize = StoreOptionKey("pageSize") }`.
/// A store ignores keys that it does not know.
public struct StoreOptions: Sendable {
  private var values: [String: any Sendable] = [:]

  /// Makes options of which none is set.
  public init() {}

  /// The value of an option, or nil where it is not set.
  public subscript<Value: Sendable>(key: StoreOptionKey<Value>) -> Value? {
    get { values[key.name] as? Value }
    set { values[key.name] = newValue }
  }
}

/// The name of an option and the type of its values.
public struct StoreOptionKey<Value: Sendable>: Sendable {
  /// A name that is unique among the options of all stores.
  public let name: String

  /// Makes a key of a name that is unique among the options of all stores.
  public init(_ name: String) {
    self.name = name
  }
}

extension StoreOptionKey<Bool> {
  /// Whether the store is opened for reading only. Off by default.
  public static let isReadOnly = StoreOptionKey("isReadOnly")
  /// Whether the store is opened although its model's version hashes differ from those of its file. Off by default.
  public static let ignoresModelVersion = StoreOptionKey("ignoresModelVersion")
  /// Whether each save is kept as a transaction of the store's history. Off by default.
  ///
  /// A store that has a history and is opened without it can be read, but not saved, so that the history has no gaps. Converting a
  /// store with the option set to `false` leaves its history out.
  public static let tracksPersistentHistory = StoreOptionKey("tracksPersistentHistory")
}
