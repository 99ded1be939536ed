import HeartwoodFormats
public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

extension DataModelFile {
  /// Returns all versions of a model in a bundle, with their names. They are in the order of the numbers in their
  /// names, the oldest first: `Model`, `Model 2`, `Model 10`.
  ///
  /// - Throws: ``ModelFileError`` if there is no bundle or a version cannot be read.
  public static func models(
    at url: URL
  ) throws(ModelFileError) -> [(version: String, model: ManagedObjectModel)] {
    let names = try versionsInOrder(at: url)
    var models: [(version: String, model: ManagedObjectModel)] = []
    for name in names { models.append((name, try ManagedObjectModel(contentsOf: url, version: name))) }
    return models
  }

  /// Returns the name of the version with the greatest number in its name.
  package static func newestVersion(at url: URL) throws(ModelFileError) -> String? {
    try versionsInOrder(at: url).last
  }

  private static func versionsInOrder(at url: URL) throws(ModelFileError) -> [String] {
    try versions(at: url).sorted { VersionName($0) < VersionName($1) }
  }
}

extension StoreOptions {
  /// Sets the options for the migration of a store: all versions of the model in a bundle, and the mapping models in
  /// it, beside it and in `folders`.
  ///
  ///     var options = StoreOptions()
  ///     try options.setMigrations(fromModelAt: URL(filePath: "ToDo.xcdatamodeld"))
  ///
  /// - Parameters:
  ///   - url: the bundle.
  ///   - folders: further folders with mapping models.
  ///   - findsMappingModels: whether to look for mapping models. If false, every step is inferred.
  /// - Throws: ``ModelFileError`` if a version, or a mapping model between two versions, cannot be read. An inferred
  ///   mapping in its place could give other results.
  public mutating func setMigrations(
    fromModelAt url: URL,
    mappingModelsIn folders: [URL] = [],
    findsMappingModels: Bool = true
  ) throws(ModelFileError) {
    let models = try DataModelFile.models(at: url)
    self[.olderModels] = models.map(\.model)
    var mappings: [MappingModel] = []
    var unplaced: [UnplacedMappingModel] = []
    let places = findsMappingModels ? [url, url.deletingLastPathComponent()] + folders : []
    for file in try MappingModelFile.files(in: places) {
      switch try file.placed(among: models) {
      case .between(let mapping): mappings.append(mapping)
      case .unknown(let problem): unplaced.append(.init(problem: problem, knownModels: models.map(\.model)))
      case .elsewhere: break
      }
    }
    self[.mappingModels] = mappings
    self[.unplacedMappingModels] = unplaced
  }
}

extension MappingModelFile {
  /// The versions of a mapping model, among those in a bundle.
  fileprivate enum Place {
    case between(MappingModel)
    /// The destination is a version of the bundle, but the source is not. The text says what to do.
    case unknown(String)
    /// It belongs to another bundle, or none of its versions exists.
    case elsewhere
  }

  fileprivate func placed(
    among models: [(version: String, model: ManagedObjectModel)]
  ) throws(ModelFileError) -> Place {
    guard sourceVersion != nil || destinationVersion != nil else { return try placedByContent(among: models) }
    let places = [sourceVersion, destinationVersion].map { name in models.first { $0.version == name }?.model }
    guard let destination = places[1] else { return .elsewhere }
    guard let source = places[0] else {
      return .unknown(
        "The mapping model \(url.path) migrates from the version “\(sourceVersion ?? "")” to “\(destinationVersion ?? "")”, and the bundle has no "
          + "version “\(sourceVersion ?? "")”. The store is of none of the bundle's versions, so it may be of that version. Put the version into "
          + "the bundle, give the mapping model itself (the option mappingModels, or heartwood migrate --mapping), or move it away if it is for other stores."
      )
    }
    return .between(try mappingModel(forSourceModel: source, destinationModel: destination))
  }

  /// Returns the versions of a mapping model that does not name them. They are known if it fits exactly two versions.
  private func placedByContent(
    among models: [(version: String, model: ManagedObjectModel)]
  ) throws(ModelFileError) -> Place {
    if let problem = notes.first {
      throw ModelFileError(file: url.path, "The mapping model cannot be followed: \(problem).")
    }
    var fitting: [MappingModel] = []
    for source in models {
      for destination in models where destination.version != source.version {
        // try?: an error means that it does not fit the two versions.
        if let mapping = try? mappingModel(forSourceModel: source.model, destinationModel: destination.model) {
          fitting.append(mapping)
        }
      }
    }
    // A compiled mapping model contains the version hashes of its entities.
    if fitting.isEmpty, hasHashes, !models.contains(where: { mayLead(to: $0.model) }) { return .elsewhere }
    if let only = fitting.first, fitting.count == 1 { return .between(only) }
    guard fitting.isEmpty else {
      throw ModelFileError(
        file: url.path,
        "The mapping model does not name its versions, and it fits \(fitting.count) pairs of those in the bundle. Choose them in Xcode, or give it in "
          + "code with the option mappingModels."
      )
    }
    return .unknown(
      "The mapping model \(url.path) does not name its versions, and fits none of those in the bundle. Move it away if it is for another model."
    )
  }

  private static let suffix = ".xcmappingmodel"

  /// Returns the mapping models directly in some folders, each once. A compiled mapping model is left out if its source
  /// is in the same folder.
  package static func files(in folders: [URL]) throws(ModelFileError) -> [MappingModelFile] {
    var files: [MappingModelFile] = []
    var seen: Set<String> = []
    for folder in folders {
      let names = try names(in: folder)
      for name in names.sorted() where name.hasSuffix(suffix) || isCompiledAlone(name, among: names) {
        let url = folder.appending(path: name)
        if seen.insert(url.path).inserted { files.append(try MappingModelFile(contentsOf: url)) }
      }
    }
    return files
  }

  /// Returns the names in a folder; empty if there is no folder.
  private static func names(in folder: URL) throws(ModelFileError) -> [String] {
    do {
      guard let status = try POSIXFileSystem().status(atPath: folder.path), !status.isRegularFile else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      throw ModelFileError(
        file: folder.path,
        "The folder cannot be read, so it is not known which mapping models are in it. Make it readable. \(error)"
      )
    }
  }

  private static func isCompiledAlone(_ name: String, among names: [String]) -> Bool {
    name.hasSuffix(compiledSuffix) && !names.contains(name.dropLast(compiledSuffix.count) + suffix)
  }
}

/// The name of a version, and the number at its end.
private struct VersionName: Comparable {
  private let stem: Substring
  /// The number; 1 for versions without a number.
  private let number: Int
  private let name: String

  init(_ name: String) {
    let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }
    stem = name.dropLast(digits.count)
    number = Int(String(digits.reversed())) ?? 1
    self.name = name
  }

  static func < (left: VersionName, right: VersionName) -> Bool {
    let stems = [left, right].map { $0.stem.trimmed }
    return (stems[0], left.number, left.name) < (stems[1], right.number, right.name)
  }
}

extension Substring {
  /// The text without spaces at its end.
  fileprivate var trimmed: String { String(prefix(upTo: lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)) }
}
