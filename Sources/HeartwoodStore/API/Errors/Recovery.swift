extension PersistenceError {
  /// The advice of an error: a step that may solve the problem.
  ///
  /// The ``text`` is for users of the library, and may name its options. A tool that names them differently switches
  /// over the ``kind``, and uses the ``names`` of which the text is made:
  ///
  ///     switch error.recovery?.kind {
  ///     case .replaceFile?: print("Give --force to replace it.")
  ///     case .setOption?: print("Set \(error.recovery?.names.first ?? "") in the file of settings.")
  ///     default: print(error.recovery?.text ?? "")
  ///     }
  ///
  /// A string literal is a recovery, too:
  ///
  ///     PersistenceError(.fileReadFailed, "The server is off.", recovery: "Start it.")
  public struct Recovery: Sendable, Hashable {
    /// The kind of step.
    public let kind: Kind
    /// The names of options, extensions or the like that the ``text`` contains. The kind determines what they are.
    public let names: [String]
    private let ownText: String?

    private init(_ kind: Kind, _ names: [String] = [], ownText: String? = nil) {
      self.kind = kind
      self.names = names
      self.ownText = ownText
    }

    /// The advice, in whole sentences.
    public var text: String { ownText ?? kind.text(names) }
  }
}

extension PersistenceError.Recovery: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}

extension PersistenceError.Recovery: ExpressibleByStringInterpolation {
  /// Creates a recovery from a text of your own.
  public init(stringLiteral text: String) {
    self = .custom(text)
  }
}

// MARK: Steps

extension PersistenceError.Recovery {
  /// Creates a recovery from a text of your own, in whole sentences.
  public static func custom(_ text: String) -> Self { Self(.custom, ownText: text) }

  /// Try the same operation again.
  public static var tryAgain: Self { Self(.tryAgain) }
  /// Open the file again, since it has changed.
  public static var openAgain: Self { Self(.openAgain) }
  /// Replace the damaged file by a copy.
  public static var restoreCopy: Self { Self(.restoreCopy) }
  /// Open the store for reading only.
  public static var openReadOnly: Self { Self(.openReadOnly) }
  /// Open the store for writing.
  public static var openForWriting: Self { Self(.openForWriting) }
  /// Replace the existing file, or choose another name.
  public static var replaceFile: Self { Self(.replaceFile) }
  /// Save under another name.
  public static var chooseAnotherName: Self { Self(.chooseAnotherName) }
  /// Keep the records in a store of another type.
  public static var chooseAnotherType: Self { Self(.chooseAnotherType) }
  /// Keep the records in a store of another type, or fewer entities in this one.
  public static var chooseAnotherTypeOrFewerEntities: Self { Self(.chooseAnotherTypeOrFewerEntities) }
  /// Keep the records in a store of another type, or make this one without a file.
  public static var chooseAnotherTypeOrNoFile: Self { Self(.chooseAnotherTypeOrNoFile) }
  /// Give the type of the store, or a name with one of these extensions.
  public static func giveStoreType(extensions: [String]) -> Self { Self(.giveStoreType, extensions) }
  /// Remove the application's values from the metadata.
  public static var removeUserMetadata: Self { Self(.removeUserMetadata) }

  /// Open the store with the model that it was written with.
  public static var giveModel: Self { Self(.giveModel) }
  /// Open the store with the model that it was written with, or migrate it.
  public static var migrateStore: Self { Self(.migrateStore) }
  /// Give the older versions of the model.
  public static var giveOlderModels: Self { Self(.giveOlderModels) }
  /// Give the older versions of the model, or copy the store to a new file, which has the model that is in the old one.
  public static var giveOlderModelsOrCopyStore: Self { Self(.giveOlderModelsOrCopyStore) }
  /// Write the migrated store to another file.
  public static var migrateToOtherFile: Self { Self(.migrateToOtherFile) }
  /// Set what a migration does with records that do not fit the new model.
  public static var resolveMigration: Self { Self(.resolveMigration) }
  /// Write a mapping model that keeps what a migration would lose, or accept the loss.
  public static var acceptMigrationLoss: Self { Self(.acceptMigrationLoss) }
  /// Give the class of a migration policy.
  public static var giveMigrationPolicy: Self { Self(.giveMigrationPolicy) }

  /// Track the history of the store.
  public static var trackHistory: Self { Self(.trackHistory) }
  /// Read all records again, and follow the history from its present end.
  public static var restartHistory: Self { Self(.restartHistory) }

  /// Set an option of the store; its name is the only one of the ``names``.
  public static func setOption(_ key: StoreOptionKey<some Sendable>) -> Self { Self(.setOption, [key.name]) }
  /// Try again later, or set an option of the store to a longer time; its name is the only one of the ``names``.
  public static func waitLonger(_ key: StoreOptionKey<some Sendable>) -> Self { Self(.waitLonger, [key.name]) }
  /// Set an option of the store to a greater limit, if the file is trusted; its name is the only one of the ``names``.
  public static func raiseLimit(_ key: StoreOptionKey<some Sendable>) -> Self { Self(.raiseLimit, [key.name]) }

  /// Returns a recovery of a kind, for tests of all kinds.
  package static func example(of kind: Kind) -> Self {
    Self(kind, ["name"], ownText: kind == .custom ? "Do something." : nil)
  }
}

// MARK: RecoveryKind

extension PersistenceError.Recovery {
  /// The kind of step of a recovery. Later versions may have more kinds, so a `switch` over kinds needs a default.
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

    /// A text of the author of the error.
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
  /// Returns the advice for users of the library.
  ///
  /// - Parameter names: the names in the text.
  func text(_ names: [String]) -> String {
    let list = names.joined(separator: ", ")
    return switch name {
    case .custom: list
    case .tryAgain: "Try again."
    case .openAgain: "Open it again."
    case .restoreCopy: "Restore it from a copy."
    case .openReadOnly: "Open it for reading only, with the option isReadOnly."
    case .openForWriting: "Open it without the option isReadOnly to change it."
    case .replaceFile: "Choose another name, or allow it to be replaced."
    case .chooseAnotherName: "Choose another name."
    case .chooseAnotherType: "Choose another type of store."
    case .chooseAnotherTypeOrFewerEntities: "Choose another type of store, or a configuration with fewer entities."
    case .chooseAnotherTypeOrNoFile: "Add it without a location, or choose another type of store."
    case .giveStoreType: "Give the type, or a name with one of the extensions \(list)."
    case .removeUserMetadata: "Remove the user's keys from the metadata, or choose another type of store."
    default: stepText(list)
    }
  }

  /// Returns the texts about models, history and options.
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
    case .resolveMigration: "Set what happens to them (MigrationResolutions), or write a mapping model."
    case .acceptMigrationLoss:
      "Write a mapping model that keeps them, or accept the loss with the option allowsMigrationLoss."
    case .giveMigrationPolicy: "Give its class with the option entityMigrationPolicies."
    case .trackHistory: "Open it with the option tracksPersistentHistory; what is saved from then on is kept."
    case .restartHistory: "Read the records again, and continue from currentPersistentHistoryToken."
    case .setOption: "Set the option \(list)."
    case .waitLonger: "Try again later, or set a longer \(list)."
    case .raiseLimit: "If you trust the file, raise the option \(list)."
    default: list
    }
  }
}
