extension PersistenceError.Recovery {
  /// What kind of step a recovery is. More kinds may come, so a `switch` over kinds needs a default.
  public struct Kind: Sendable, Hashable {
    private enum Name: String, CaseIterable {
      case custom
      case tryAgain, openAgain, restoreCopy, openReadOnly, openForWriting
      case replaceFile, chooseAnotherName
      case chooseAnotherType, chooseAnotherTypeOrFewerEntities, chooseAnotherTypeOrNoFile, giveStoreType
      case removeUserMetadata
      case giveModel, migrateStore, giveOlderModels, giveOlderModelsOrCopyStore, migrateToOtherFile
      case resolveMigration, acceptMigrationLoss, giveMigrationPolicy
      case trackHistory, restartHistory
      case setOption, waitLonger, raiseLimit
    }
    private let name: Name

    /// A step in words of its own.
    public static let custom = Kind(name: .custom)
    /// See ``PersistenceError/Recovery/tryAgain``.
    public static let tryAgain = Kind(name: .tryAgain)
    /// See ``PersistenceError/Recovery/openAgain``.
    public static let openAgain = Kind(name: .openAgain)
    /// See ``PersistenceError/Recovery/restoreCopy``.
    public static let restoreCopy = Kind(name: .restoreCopy)
    /// See ``PersistenceError/Recovery/openReadOnly``.
    public static let openReadOnly = Kind(name: .openReadOnly)
    /// See ``PersistenceError/Recovery/openForWriting``.
    public static let openForWriting = Kind(name: .openForWriting)
    /// See ``PersistenceError/Recovery/replaceFile``.
    public static let replaceFile = Kind(name: .replaceFile)
    /// See ``PersistenceError/Recovery/chooseAnotherName``.
    public static let chooseAnotherName = Kind(name: .chooseAnotherName)
    /// See ``PersistenceError/Recovery/chooseAnotherType``.
    public static let chooseAnotherType = Kind(name: .chooseAnotherType)
    /// See ``PersistenceError/Recovery/chooseAnotherTypeOrFewerEntities``.
    public static let chooseAnotherTypeOrFewerEntities = Kind(name: .chooseAnotherTypeOrFewerEntities)
    /// See ``PersistenceError/Recovery/chooseAnotherTypeOrNoFile``.
    public static let chooseAnotherTypeOrNoFile = Kind(name: .chooseAnotherTypeOrNoFile)
    /// See ``PersistenceError/Recovery/giveStoreType(extensions:)``.
    public static let giveStoreType = Kind(name: .giveStoreType)
    /// See ``PersistenceError/Recovery/removeUserMetadata``.
    public static let removeUserMetadata = Kind(name: .removeUserMetadata)
    /// See ``PersistenceError/Recovery/giveModel``.
    public static let giveModel = Kind(name: .giveModel)
    /// See ``PersistenceError/Recovery/migrateStore``.
    public static let migrateStore = Kind(name: .migrateStore)
    /// See ``PersistenceError/Recovery/giveOlderModels``.
    public static let giveOlderModels = Kind(name: .giveOlderModels)
    /// See ``PersistenceError/Recovery/giveOlderModelsOrCopyStore``.
    public static let giveOlderModelsOrCopyStore = Kind(name: .giveOlderModelsOrCopyStore)
    /// See ``PersistenceError/Recovery/migrateToOtherFile``.
    public static let migrateToOtherFile = Kind(name: .migrateToOtherFile)
    /// See ``PersistenceError/Recovery/resolveMigration``.
    public static let resolveMigration = Kind(name: .resolveMigration)
    /// See ``PersistenceError/Recovery/acceptMigrationLoss``.
    public static let acceptMigrationLoss = Kind(name: .acceptMigrationLoss)
    /// See ``PersistenceError/Recovery/giveMigrationPolicy``.
    public static let giveMigrationPolicy = Kind(name: .giveMigrationPolicy)
    /// See ``PersistenceError/Recovery/trackHistory``.
    public static let trackHistory = Kind(name: .trackHistory)
    /// See ``PersistenceError/Recovery/restartHistory``.
    public static let restartHistory = Kind(name: .restartHistory)
    /// See ``PersistenceError/Recovery/setOption(_:)``.
    public static let setOption = Kind(name: .setOption)
    /// See ``PersistenceError/Recovery/waitLonger(_:)``.
    public static let waitLonger = Kind(name: .waitLonger)
    /// See ``PersistenceError/Recovery/raiseLimit(_:)``.
    public static let raiseLimit = Kind(name: .raiseLimit)

    /// All kinds, for tests.
    package static var all: [Kind] { Name.allCases.map(Kind.init(name:)) }
  }
}

extension PersistenceError.Recovery.Kind: CustomStringConvertible {
  /// The name of the kind, as in Swift.
  public var description: String { name.rawValue }
}

// MARK: Texts

extension PersistenceError.Recovery.Kind {
  /// What to do, in words for a reader of the library's errors.
  ///
  /// - Parameter names: what the recovery speaks of.
  func text(_ names: [String]) -> String {
    let list = names.joined(separator: ", ")
    return switch name {
    case .custom: list
    case .tryAgain: "Try again."
    case .openAgain: "Open it again."
    case .restoreCopy: "Restore it from a copy."
    case .openReadOnly: "Open it for reading only, with the option isReadOnly."
    case .openForWriting: "Open it without the option isReadOnly to change it."
    case .replaceFile: "Choose another name, or say that it may be replaced."
    case .chooseAnotherName: "Choose another name."
    case .chooseAnotherType: "Choose another type of store."
    case .chooseAnotherTypeOrFewerEntities: "Choose another type of store, or a configuration with fewer entities."
    case .chooseAnotherTypeOrNoFile: "Add it without a location, or choose another type of store."
    case .giveStoreType: "Give the type, or a name with one of the extensions \(list)."
    case .removeUserMetadata: "Remove the user's keys from the metadata, or choose another type of store."
    default: stepText(list)
    }
  }

  /// The texts of what is about models, history and options.
  private func stepText(_ list: String) -> String {
    switch name {
    case .giveModel: "Open it with the model that it was written with."
    case .migrateStore:
      "Open it with the model that it was written with, or migrate it (shouldMigrateStoreAutomatically)."
    case .giveOlderModels: "Give the older versions of the model with the option olderModels."
    case .giveOlderModelsOrCopyStore:
      "Give the store's model with the option olderModels. Or copy the store to a new file, which is of the model in the old one, and migrate the "
        + "copy."
    case .migrateToOtherFile: "Write the migrated store to another file, with run(to:) of the migration."
    case .resolveMigration: "Say what is to become of them (MigrationResolutions), or write a mapping model."
    case .acceptMigrationLoss:
      "Write a mapping model that takes them along, or accept the loss with the option allowsMigrationLoss."
    case .giveMigrationPolicy: "Give its class with the option entityMigrationPolicies."
    case .trackHistory: "Open it with the option tracksPersistentHistory; what is saved from then on is kept."
    case .restartHistory: "Read the records anew, and go on from currentPersistentHistoryToken."
    case .setOption: "Set the option \(list)."
    case .waitLonger: "Try again later, or set a longer \(list)."
    case .raiseLimit: "If you trust the file, raise the option \(list)."
    default: list
    }
  }
}
