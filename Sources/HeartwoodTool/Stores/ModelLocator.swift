import ArgumentParser
import Heartwood
import HeartwoodModelFiles
import HeartwoodFoundation
import HeartwoodRecordText
import HeartwoodStore

/// A model, where it was found, and notes about it.
struct LocatedModel {
  let model: ManagedObjectModel
  /// The path of the file or folder; nil if the store's own file contains the model.
  let path: String?
  /// Notes about what the model does not represent, with their positions.
  let notes: [String]
  /// Whether the model is inferred from the file, and not the one with which the store was written.
  let isInferred: Bool
  /// The Xcode file from which the model was read; nil if it was another file.
  let file: DataModelFile?

  init(
    _ model: ManagedObjectModel,
    path: String?,
    notes: [String] = [],
    isInferred: Bool = false,
    file: DataModelFile? = nil
  ) {
    self.model = model
    self.path = path
    self.notes = notes
    self.isInferred = isInferred
    self.file = file
  }

  /// Prints the notes.
  func tellNotes() { StandardError.write(noteLines) }

  /// Prints the notes during work with a progress bar.
  func tellNotes(beside progress: ProgressBar) { progress.tell(noteLines) }

  private var noteLines: String { notes.map(StandardError.note).joined() }
}

/// Finds the model of a store: the one that the user gives, the one in the store's own file, or the one beside it.
struct ModelLocator {
  static let help: ArgumentHelp = """
    The model: an .xcdatamodeld, .xcdatamodel, .momd or .mom, a JSON model, or a store that holds one. If there are several versions, the current \
    one is used, or the newest that fits the file; the path of an .xcdatamodel in the bundle selects that version. By default, the model in the \
    store's own file is used, or the .xcdatamodeld beside it, or one is made from the information in the file.
    """

  private static let bundleSuffix = ".xcdatamodeld"
  private static let advice = "Give an .xcdatamodeld, a JSON model, or a store that holds one."

  let registry: StoreRegistry
  let fileSystem: any FileSystem

  /// Returns the model at a path that the user gives.
  func model(at path: String, version: String? = nil) throws -> LocatedModel {
    guard let status = try fileSystem.status(atPath: path) else {
      throw PersistenceError(.modelMissing, "There is no such file or folder.", context: .init(path: path))
    }
    guard status.isRegularFile, !Self.fileNames.contains(where: path.hasSuffix) else {
      return try dataModel(at: path, version: version)
    }
    guard version == nil else {
      throw ToolError(at: path, "This holds one model, without versions. Leave out the version.")
    }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    try file.checkIsPlain()
    // A file with this extension is a model, whatever its first character is.
    let isJSON = PathParts.fileExtension(path) == "json"
    let first = try firstCharacter(of: file)
    let isStore = try first == "<" && Self.storeElements.contains(firstElement(of: file))
    switch isJSON ? "{" : first {
    case "{":
      return try file.reading { try Self.jsonModel(Data(try file.bytes()), at: path) }
    case "<" where !isStore: return try dataModel(at: path)
    default: return try embeddedModel(file)
    }
  }

  /// Returns the model of a store if the user gives none.
  func model(forStoreAt place: StorePlace, _ type: StoreType, _ format: any StoreFormat) throws -> LocatedModel {
    if let model = try embeddedModel(.reading(place, type)) { return LocatedModel(model, path: nil) }
    // If there is no store at a URL, it looks like a store without a model until its metadata is requested.
    if place.path == nil { _ = try storeManager().metadata(.reading(place, type)) }
    do {
      return try dataModel(at: try bundle(beside: place))
    } catch var error as PersistenceError
      where error.code == .modelMissing && (format as? any FileFormat)?.recoversModels == true
    {
      let advice = error.recovery.map { $0.text + " " } ?? ""
      error.recovery = .custom("\(advice)Or make one of its records: \(Self.recovering(place))")
      throw error
    }
  }

  /// Returns the command that makes a model of a store's records and writes it where it is found.
  private static func recovering(_ place: StorePlace) -> String {
    let path = place.description
    let (folder, name) = PathParts.split(path)
    let base = name.split(separator: ".").first.map(String.init) ?? name
    let model = path.contains("/") ? PathParts.join(folder, base + bundleSuffix) : base + bundleSuffix
    return "heartwood recover-model \(DisplayText.argument(path)) \(DisplayText.argument(model))"
  }

  /// Returns the model of a damaged store if the user gives none: the one in its file, if that part is sound, or one
  /// that is found as for other stores.
  func model(forDamagedStoreAt place: StorePlace, _ type: StoreType, _ format: any StoreFormat) throws -> LocatedModel {
    if let path = place.path, let format = format as? any FileFormat {
      let file = try StoreInput(try fileSystem.openFile(atPath: path))
      if let model = format.salvageModel(from: file, options: .readOnly) { return LocatedModel(model, path: nil) }
      // try?: if the model cannot be read, another one is found, and the salvage reports the damage.
    } else if let model = try? embeddedModel(.reading(place, type)) {
      return LocatedModel(model, path: nil)
    }
    do {
      return try dataModel(at: try bundle(beside: place))
    } catch let error as PersistenceError where error.code == .modelMissing {
      // If the file cannot be read, no model can be inferred.
      guard let model = try? inferredModel(forStoreAt: place, format) else { throw error }
      return model
    }
  }

  /// Returns whether a new store at `place` can be opened without giving a model, because its type contains the model
  /// or there is one beside it.
  func hasModel(ofStoreAt place: StorePlace, _ format: any StoreFormat) -> Bool {
    format.typeDescription.capabilities.supports(.embeddedModel) || (try? bundle(beside: place)) != nil
  }

  /// Returns the other versions in a model's bundle. The newest is first if all can be read. A version that cannot be
  /// read is left out, because the store may belong to another one.
  func otherVersions(of model: LocatedModel) throws -> [LocatedModel] {
    guard let path = model.path, model.file != nil else { return [] }
    let bundle = URL(argument: path)
    // try?: without a current version, the newest has been read.
    let current = (try? DataModelFile.currentVersion(at: bundle)) ?? Self.newestVersion(at: bundle)
    let inOrder = try? DataModelFile.models(at: bundle).map(\.version)
    let versions = try inOrder ?? DataModelFile.versions(at: bundle)
    return versions.reversed().filter { $0 != current }.compactMap { try? dataModel(at: path, version: $0) }
  }

  /// Returns a model that is inferred from the store's file, if there is enough information.
  ///
  /// - Parameter other: a model that was found for the file but does not fit it.
  func inferredModel(
    forStoreAt place: StorePlace,
    _ format: any StoreFormat,
    inPlaceOf other: LocatedModel? = nil
  ) throws -> LocatedModel? {
    guard let path = place.path, let format = format as? any FileFormat else { return nil }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    let foreign = other?.path.map { ", and was not written with that of \($0)" } ?? ""
    let note =
      "\(path): The file holds no model\(foreign), so one was made of its records. Names may differ from the real ones. Give the real model with --model."
    return try format.inferModel(from: file, options: .readOnly).map {
      LocatedModel($0, path: nil, notes: [note], isInferred: true)
    }
  }

  private func firstCharacter(of file: StoreInput) throws(PersistenceError) -> Character? {
    let prefix = try file.bytes(from: 0, count: 64)
    return String(decoding: prefix, as: UTF8.self).first { !$0.isWhitespace && $0 != "\u{FEFF}" }
  }

  /// The names of the first elements of XML stores.
  private static let storeElements: Set = ["database", "plist"]
  /// The number of bytes that are searched for the first element.
  private static let prologueLength = 4096

  /// Returns the name of the first element of an XML file; empty if it is not found.
  private func firstElement(of file: StoreInput) throws(PersistenceError) -> String {
    let prefix = String(decoding: try file.bytes(from: 0, count: Self.prologueLength), as: UTF8.self)
    // Declarations begin with ? or !, and a comment may contain anything.
    let tags = prefix.replacing(/<!--.*?-->/.dotMatchesNewlines(), with: "").split(separator: "<").dropFirst()
    guard let tag = tags.first(where: { $0.first?.isLetter ?? false }) else { return "" }
    return String(tag.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" })
  }

  /// The endings of file names whose contents do not distinguish them from stores.
  private static let fileNames = [".mom", ".omo", "/elements"]

  /// Reads a model file. If none of several versions is the current one, the newest is read, which a note reports.
  private func dataModel(at path: String, version: String? = nil) throws -> LocatedModel {
    let url = URL(argument: path)
    do {
      return Self.located(try DataModelFile(contentsOf: url, version: version), path)
    } catch {
      guard version == nil, let newest = Self.newestVersion(at: url) else { throw error }
      let note = "\(error.text { _ in path }) The newest version was read, which is \(newest)."
      return Self.located(try DataModelFile(contentsOf: url, version: newest), path, notes: [note])
    }
  }

  private static func located(_ file: DataModelFile, _ path: String, notes: [String] = []) -> LocatedModel {
    let ownNotes = file.notes.map { "\(file.url.path):\($0.line.map { "\($0):" } ?? "") \($0.message)" }
    return LocatedModel(file.model, path: path, notes: notes + ownNotes, file: file)
  }

  /// Returns the newest version in a bundle that has versions and no current one; nil for another bundle.
  private static func newestVersion(at bundle: URL) -> String? {
    // try?: the error of reading the current version is reported.
    guard (try? DataModelFile.currentVersion(at: bundle)) == nil else { return nil }
    return try? DataModelFile.newestVersion(at: bundle)
  }

  private static func jsonModel(_ data: Data, at path: String) throws -> LocatedModel {
    let model = try ManagedObjectModel.decoded(from: data)
    let notes = try ManagedObjectModel.unknownMembers(inEncoded: data).map {
      "\(path): \($0) is not a member of a JSON model, so it is ignored and has no effect. Correct its name, or remove it."
    }
    return LocatedModel(model, path: path, notes: notes)
  }

  private func embeddedModel(_ file: StoreInput) throws -> LocatedModel {
    let type = try type(of: file)
    if let model = try embeddedModel(.reading(file.path, type)) { return LocatedModel(model, path: file.path) }
    throw PersistenceError(
      .modelMissing,
      "The file holds no model.",
      recovery: "\(Self.advice) Commands that read a store, such as heartwood info, may make a model of its records.",
      context: .init(path: file.path, storeType: type)
    )
  }
}

// MARK: In the store

extension ModelLocator {
  /// Returns the type of a store that should contain a model.
  private func type(of file: StoreInput) throws -> StoreType {
    do {
      return try registry.type(ofFileAt: file.path, in: fileSystem)
    } catch let error where error.code == .storeTypeUndetermined {
      throw PersistenceError(
        .modelMissing,
        "It is not a model.",
        recovery: .custom(Self.advice),
        context: .init(path: file.path)
      )
    }
  }

  /// Returns the model in a store; nil if there is none.
  private func embeddedModel(_ request: StoreManager.Request) throws -> ManagedObjectModel? {
    try storeManager().embeddedModel(request)
  }

  /// Returns a manager for reading what does not require the store's model.
  private func storeManager() throws -> StoreManager {
    StoreManager(model: try ManagedObjectModel(entities: []), registry: registry, fileSystem: fileSystem)
  }
}

// MARK: Beside the store

extension ModelLocator {
  /// Returns the bundle in the store's folder with the name of the store, or with the longest part of it before a dot,
  /// or the only bundle.
  private func bundle(beside place: StorePlace) throws -> String {
    guard let path = place.path else {
      throw PersistenceError(
        .modelMissing,
        "No model is kept with the store.",
        recovery: "Give the model with --model.",
        context: .init(path: place.description)
      )
    }
    let (folder, name) = PathParts.split(path)
    let bundles = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(Self.bundleSuffix) }.sorted()
    let namesakes = Self.baseNames(of: name).lazy.map { baseName in
      bundles.filter { $0.dropLast(Self.bundleSuffix.count).lowercased() == baseName }
    }
    let candidates = namesakes.first { !$0.isEmpty } ?? bundles
    if let only = candidates.first, candidates.count == 1 { return PathParts.join(folder, only) }
    throw Self.missing(candidates, path)
  }

  /// Returns the name in lower case without leading dots, and then the parts before its last dot, the one before that,
  /// and so on.
  private static func baseNames(of name: String) -> [String] {
    let parts = name.lowercased().drop { $0 == "." }.split(separator: ".", omittingEmptySubsequences: false)
    return parts.indices.reversed().map { parts[...$0].joined(separator: ".") }
  }

  private static func missing(_ candidates: [String], _ path: String) -> PersistenceError {
    let names = candidates.joined(separator: ", ")
    let found = candidates.isEmpty ? "there is no .xcdatamodeld beside it" : "several are beside it: \(names)"
    return PersistenceError(
      .modelMissing,
      "The file does not hold its model, and \(found).",
      recovery: .custom("Give \(candidates.isEmpty ? "the model" : "one") with --model."),
      context: .init(path: path)
    )
  }
}
