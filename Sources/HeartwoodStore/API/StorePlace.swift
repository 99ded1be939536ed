public import HeartwoodFoundation
public import HeartwoodModel

/// Where a store is: a file or folder, or a URL of any other scheme. A store that has no place, such as one in memory, has nil for it.
///
///     StorePlace(URL(filePath: "/data/todos.csv"))                         // .file(path: "/data/todos.csv")
///     StorePlace(URL(string: "https://records.example.com/todos"))         // .url(…)
///
/// Two places are equal if they are written alike; a file may have several names.
public enum StorePlace: Sendable, Hashable {
  /// A file, or a folder, by its path.
  case file(path: String)
  /// What a URL names that is not a file URL: a database, or a service.
  case url(URL)

  /// The place that a URL names: its path, if it is a file URL.
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
  /// The path, or the URL without what must not be read by others: the password, and the values of query items called like one.
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

/// What a store is made for.
public struct StoreSetup: Sendable {
  /// The model whose records the store keeps.
  public let model: ManagedObjectModel
  /// The configuration whose entities the store keeps; nil means all.
  public let configurationName: String?
  /// The entities of the configuration, in the order of the model.
  public let entities: [EntityDescription]
  /// Where the store is, or nil for one without a place.
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

  /// The path of the store's file or folder; nil for a store at another URL, and for one without a place.
  public var path: String? { place?.path }

  /// The place as errors name it.
  package var placeName: String? { place?.description }

  /// The same for a store at another place.
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

/// What has become of a store's file since the store was opened or last saved: ``PersistentStore/fileState()``.
public enum StoreFileState: Sendable, Hashable {
  /// There is no file yet: the first save makes it. Stores without files are always so.
  case absent
  /// The file is as it was.
  case unchanged
  /// Somebody else has written the file, or another file stands in its place. Saving throws
  /// ``PersistenceError/Code/fileChangedOnDisk``: open it again, or save somewhere else.
  case changed
  /// The file has another name now. Saving throws ``PersistenceError/Code/fileChangedOnDisk`` until the store is told the new place,
  /// as `PersistentStoreCoordinator.setURL(_:for:)` does.
  case moved(path: String)
  /// The file is gone. Saving throws ``PersistenceError/Code/fileChangedOnDisk``: it does not come back by itself.
  case removed
}
