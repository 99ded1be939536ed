public import HeartwoodFoundation
public import HeartwoodModel

/// The place of a store: a file or folder, or a URL of any other scheme. A store without a place, such as one in
/// memory, has nil instead.
///
///     StorePlace(URL(filePath: "/data/todos.csv"))                         // .file(path: "/data/todos.csv")
///     StorePlace(URL(string: "https://records.example.com/todos"))         // .url(…)
///
/// Two places are equal if they are written alike, although a file may have several names.
public enum StorePlace: Sendable, Hashable {
  /// A file, or a folder, by its path.
  case file(path: String)
  /// A database or a service, by a URL that is not a file URL.
  case url(URL)

  /// Creates the place for a URL: its path, if it is a file URL.
  public init(_ url: URL) {
    self = url.isFileURL ? .file(path: url.path) : .url(url)
  }

  /// The path of the file or folder; nil for another URL.
  public var path: String? {
    guard case .file(let path) = self else { return nil }
    return path
  }

  /// The URL of the place; a file URL for a file.
  public var url: URL {
    switch self {
    case .file(let path): URL(filePath: path)
    case .url(let url): url
    }
  }

  /// The scheme of the URL in lower case; nil for a file.
  var scheme: String? {
    guard case .url(let url) = self else { return nil }
    return url.scheme?.lowercased()
  }
}

extension StorePlace: CustomStringConvertible {
  /// The path, or the URL without secrets: the password, and the values of query items with names such as `token` or
  /// `key`.
  public var description: String {
    switch self {
    case .file(let path): path
    case .url(let url): Self.withoutSecrets(url)
    }
  }

  /// The words in names of query items whose values are not shown.
  private static let secretWords = ["password", "passwd", "secret", "token", "key", "signature"]

  private static func withoutSecrets(_ url: URL) -> String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
      return "\(url.scheme ?? ""):…"
    }
    if parts.password != nil { parts.password = nil }
    parts.queryItems = parts.queryItems?.map { item in
      let name = item.name.lowercased()
      return Self.secretWords.contains(where: name.contains) ? URLQueryItem(name: item.name, value: "xxx") : item
    }
    return parts.string ?? "\(url.scheme ?? ""):…"
  }
}

// MARK: StoreSetup

/// The model, the entities, the place and the options that a store is created with.
public struct StoreSetup: Sendable {
  /// The model whose records the store keeps.
  public let model: ManagedObjectModel
  /// The configuration whose entities the store keeps; nil means all.
  public let configurationName: String?
  /// The entities of the configuration, in the order of the model.
  public let entities: [EntityDescription]
  /// The place of the store; nil for a store without a place.
  public let place: StorePlace?
  /// The settings that the store is opened with.
  public let options: StoreOptions

  package init(
    model: ManagedObjectModel,
    configurationName: String?,
    entities: [EntityDescription],
    place: StorePlace?,
    options: StoreOptions
  ) {
    self.model = model
    self.configurationName = configurationName
    self.entities = entities
    self.place = place
    self.options = options
  }
}

extension StoreSetup {
  package init(
    model: ManagedObjectModel,
    configurationName: String?,
    entities: [EntityDescription],
    path: String?,
    options: StoreOptions
  ) {
    self.init(
      model: model,
      configurationName: configurationName,
      entities: entities,
      place: path.map { .file(path: $0) },
      options: options
    )
  }

  /// The path of the store's file or folder; nil for a store at another URL, and for a store without a place.
  public var path: String? { place?.path }

  /// The place as errors name it.
  package var placeName: String? { place?.description }

  /// Returns the same setup for a store at another place.
  func moved(to place: StorePlace?) -> StoreSetup {
    StoreSetup(
      model: model,
      configurationName: configurationName,
      entities: entities,
      place: place,
      options: options
    )
  }
}

// MARK: StoreFileState

/// What has happened to a store's file since the store was opened or last saved: ``PersistentStore/fileState()``.
public enum StoreFileState: Sendable, Hashable {
  /// There is no file yet: the first save creates it. Stores without files always have this state.
  case absent
  /// The file has not changed.
  case unchanged
  /// Another program has written the file, or another file is in its place. Saving throws
  /// ``PersistenceError/Code/fileChangedOnDisk``: open the store again, or save it elsewhere.
  case changed
  /// The file has another name now. Saving throws ``PersistenceError/Code/fileChangedOnDisk`` until the store gets the
  /// new place, for example by `PersistentStoreCoordinator.setURL(_:for:)`.
  case moved(path: String)
  /// The file was removed. Saving throws ``PersistenceError/Code/fileChangedOnDisk``, and does not create the file
  /// again.
  case removed
}
