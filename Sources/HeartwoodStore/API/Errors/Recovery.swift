extension PersistenceError {
  /// What to do about an error.
  ///
  /// The ``text`` is for readers of a library's errors, and may name its options. A tool that calls them otherwise looks at the ``kind``, and at
  /// the ``names`` that the text is made with:
  ///
  ///     switch error.recovery?.kind {
  ///     case .replaceFile?: print("Give --force to replace it.")
  ///     case .setOption?: print("Set \(error.recovery?.names.first ?? "") in the file of settings.")
  ///     default: print(error.recovery?.text ?? "")
  ///     }
  ///
  /// A string literal is a recovery, too: `PersistenceError(.fileReadFailed, "The server is off.", recovery: "Start it.")`.
  public struct Recovery: Sendable, Hashable {
    /// What kind of step it is.
    public let kind: Kind
    /// The names of options, extensions or the like that the ``text`` is made with. What they are, the kind says.
    public let names: [String]
    private let ownText: String?

    private init(_ kind: Kind, _ names: [String] = [], ownText: String? = nil) {
      self.kind = kind
      self.names = names
      self.ownText = ownText
    }

    /// What to do, in whole sentences.
    public var text: String { ownText ?? kind.text(names) }
  }
}

extension PersistenceError.Recovery: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}

extension PersistenceError.Recovery: ExpressibleByStringInterpolation {
  /// A recovery in words of one's own.
  public init(stringLiteral text: String) {
    self = .custom(text)
  }
}

// MARK: Steps

extension PersistenceError.Recovery {
  /// A step in words of its own, in whole sentences.
  public static func custom(_ text: String) -> Self { Self(.custom, ownText: text) }

  /// Do the same once more.
  public static var tryAgain: Self { Self(.tryAgain) }
  /// Open the file again, since it has changed.
  public static var openAgain: Self { Self(.openAgain) }
  /// Put a copy in the place of the damaged file.
  public static var restoreCopy: Self { Self(.restoreCopy) }
  /// Open the store for reading only.
  public static var openReadOnly: Self { Self(.openReadOnly) }
  /// Open the store for writing.
  public static var openForWriting: Self { Self(.openForWriting) }
  /// Replace the file that is there, or choose another name.
  public static var replaceFile: Self { Self(.replaceFile) }
  /// Save under another name.
  public static var chooseAnotherName: Self { Self(.chooseAnotherName) }
  /// Keep the records in a store of another type.
  public static var chooseAnotherType: Self { Self(.chooseAnotherType) }
  /// Keep the records in a store of another type, or fewer entities in this one.
  public static var chooseAnotherTypeOrFewerEntities: Self { Self(.chooseAnotherTypeOrFewerEntities) }
  /// Keep the records in a store of another type, or make this one without a file.
  public static var chooseAnotherTypeOrNoFile: Self { Self(.chooseAnotherTypeOrNoFile) }
  /// Say of which type the store is, or give it a name with one of these extensions.
  public static func giveStoreType(extensions: [String]) -> Self { Self(.giveStoreType, extensions) }
  /// Keep no metadata of one's own.
  public static var removeUserMetadata: Self { Self(.removeUserMetadata) }

  /// Open the store with the model that it was written with.
  public static var giveModel: Self { Self(.giveModel) }
  /// Open the store with the model that it was written with, or migrate it.
  public static var migrateStore: Self { Self(.migrateStore) }
  /// Give the older versions of the model.
  public static var giveOlderModels: Self { Self(.giveOlderModels) }
  /// Give the older versions of the model, or copy the store into a new file, which is of the model in the old one.
  public static var giveOlderModelsOrCopyStore: Self { Self(.giveOlderModelsOrCopyStore) }
  /// Write the migrated store to another file.
  public static var migrateToOtherFile: Self { Self(.migrateToOtherFile) }
  /// Say what a migration does with records that do not fit the new model.
  public static var resolveMigration: Self { Self(.resolveMigration) }
  /// Write a mapping model that takes along what a migration would lose, or accept the loss.
  public static var acceptMigrationLoss: Self { Self(.acceptMigrationLoss) }
  /// Give the class of a migration policy.
  public static var giveMigrationPolicy: Self { Self(.giveMigrationPolicy) }

  /// Track the history of the store.
  public static var trackHistory: Self { Self(.trackHistory) }
  /// Read all records, and follow the history from its present end.
  public static var restartHistory: Self { Self(.restartHistory) }

  /// Set an option of the store; its name is the only one of the ``names``.
  public static func setOption(_ key: StoreOptionKey<some Sendable>) -> Self { Self(.setOption, [key.name]) }
  /// Try again later, or set an option of the store to a longer time; its name is the only one of the ``names``.
  public static func waitLonger(_ key: StoreOptionKey<some Sendable>) -> Self { Self(.waitLonger, [key.name]) }
  /// Set an option of the store to a greater limit, if the file is trusted; its name is the only one of the ``names``.
  public static func raiseLimit(_ key: StoreOptionKey<some Sendable>) -> Self { Self(.raiseLimit, [key.name]) }

  /// A step of a kind, for tests that go through all of them.
  package static func example(of kind: Kind) -> Self {
    Self(kind, ["name"], ownText: kind == .custom ? "Do something." : nil)
  }
}
