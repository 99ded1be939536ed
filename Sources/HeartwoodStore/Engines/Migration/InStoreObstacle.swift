extension MigrationReport {
  /// Why a store that can make the records of a migration itself has not done it, so that they went through memory.
  public struct InStoreObstacle: Sendable, Hashable {
    /// What stood in the way.
    public let kind: Kind
    /// The same in words that follow “because”. They name entities and properties, and no values.
    public let detail: String

    package init(_ kind: Kind, _ detail: String) {
      self.kind = kind
      self.detail = detail
    }
  }
}

extension MigrationReport.InStoreObstacle: CustomStringConvertible {
  /// The ``detail``.
  public var description: String { detail }
}

extension MigrationReport.InStoreObstacle {
  /// What stands in the way of a store that would make the records of a migration itself. More kinds may come, so a `switch` over them needs a
  /// default.
  public struct Kind: Sendable, Hashable {
    private enum Name: String {
      case option, storeType, file, schema, records
    }
    private let name: Name

    /// The option ``StoreOptionKey/migratesInStore`` is off.
    public static let option = Kind(name: .option)
    /// The new store is of another type.
    public static let storeType = Kind(name: .storeType)
    /// A file is missing, or of a form that the store does not migrate.
    public static let file = Kind(name: .file)
    /// Entities, attributes or relationships become something that the store cannot make of what they were.
    public static let schema = Kind(name: .schema)
    /// Records do not fit the new model; through memory all of them are counted.
    public static let records = Kind(name: .records)
  }
}

extension MigrationReport.InStoreObstacle.Kind: CustomStringConvertible {
  /// The name of the kind, as in Swift.
  public var description: String { name.rawValue }
}
