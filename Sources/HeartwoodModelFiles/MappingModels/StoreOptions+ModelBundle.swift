import HeartwoodFormats
public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

extension DataModelFile {
  /// All versions of the model in the bundle at `url`, by name, the oldest first as far as their names tell: `Model`, `Model 2`,
  /// `Model 10`.
  public static func models(
    at url: URL
  ) throws(ModelFileError) -> [(version: String, model: ManagedObjectModel)] {
    let names = try versions(at: url).sorted { VersionName($0) < VersionName($1) }
    var models: [(version: String, model: ManagedObjectModel)] = []
    for name in names { models.append((name, try ManagedObjectModel(contentsOf: url, version: name))) }
    return models
  }
}

extension StoreOptions {
  /// Lets a store be migrated with what there is at hand: all versions of the model in the bundle at `url`, and the mapping models
  /// that lie beside it, in it, or in one of `folders`.
  ///
  /// - Parameters:
  ///   - url: the bundle.
  ///   - folders: where mapping models are looked for beside the bundle and its folder.
  ///   - findsMappingModels: whether they are looked for at all. If not, every step is inferred.
  /// - Throws: ``ModelFileError`` where a version or a mapping model between two of them cannot be read: what would be inferred in its place may not be
  ///   what it says.
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
  /// Where a mapping model leads, among the versions in a bundle.
  fileprivate enum Place {
    case between(MappingModel)
    /// It leads to a version of the bundle, from one that is not there.
    case unknown(String)
    /// It is of another bundle, or its versions are all gone.
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
        "The mapping model \(url.path) leads from the version “\(sourceVersion ?? "")” to “\(destinationVersion ?? "")”, and the bundle has no "
          + "version “\(sourceVersion ?? "")”. The store is of none of the bundle's versions, so it may be of that one. Put the version into "
          + "the bundle, give the mapping model itself (the option mappingModels, or heartwood migrate --mapping), or move it away if it is of other stores."
      )
    }
    return .between(try mappingModel(forSourceModel: source, destinationModel: destination))
  }

  /// Where one leads that names no versions: it is known if it fits two of them only.
  private func placedByContent(
    among models: [(version: String, model: ManagedObjectModel)]
  ) throws(ModelFileError) -> Place {
    if let problem = notes.first {
      throw ModelFileError(file: url.path, "The mapping model cannot be followed: \(problem).")
    }
    var fitting: [MappingModel] = []
    for source in models {
      for destination in models where destination.version != source.version {
        // try?: whether it fits the two versions is the question.
        if let mapping = try? mappingModel(forSourceModel: source.model, destinationModel: destination.model) {
          fitting.append(mapping)
        }
      }
    }
    // A compiled mapping model tells the versions by their hashes.
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
      "The mapping model \(url.path) does not name its versions, and fits none of those in the bundle. Move it away if it is of another model."
    )
  }

  private static let suffix = ".xcmappingmodel"

  /// The mapping models in some folders, not in folders below them; each once, and no compiled one beside what it was made of.
  static func files(in folders: [URL]) throws(ModelFileError) -> [MappingModelFile] {
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

  /// What is in a folder; nothing if it is not there, or is a file.
  private static func names(in folder: URL) throws(ModelFileError) -> [String] {
    do {
      guard let status = try POSIXFileSystem().status(atPath: folder.path), !status.isRegularFile else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      throw ModelFileError(
        file: folder.path,
        "The folder cannot be read, so nobody knows which mapping models are in it. Give it permissions to be read. \(error)"
      )
    }
  }

  private static func isCompiledAlone(_ name: String, among names: [String]) -> Bool {
    name.hasSuffix(compiledSuffix) && !names.contains(name.dropLast(compiledSuffix.count) + suffix)
  }
}

/// The name of a version with the number that it ends with.
private struct VersionName: Comparable {
  private let stem: Substring
  /// Versions without a number are the first.
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
