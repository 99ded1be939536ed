import ArgumentParser
import Heartwood
import HeartwoodModelFiles
import HeartwoodFoundation
import HeartwoodStore

/// A model, where it was found, and what was left out of it.
struct LocatedModel {
  let model: ManagedObjectModel
  /// The file or folder; nil where the store's own file has it.
  let path: String?
  /// What the file says and the model has not, each with its place.
  let notes: [String]
  /// Whether it is made of what the store's file tells of its records, and not the model that they were written with.
  let isInferred: Bool
  /// The file of Xcode's that it was read from; nil where it is from another.
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

  /// Tells the user what is to be known of the model.
  func tellNotes() { StandardError.write(noteLines) }

  /// The same, while a bar may be shown.
  func tellNotes(beside progress: ProgressBar) { progress.tell(noteLines) }

  private var noteLines: String { notes.map(StandardError.note).joined() }
}

/// Finds the model of a store: the one that the user gives, the one in the store's own file, or the one beside it.
struct ModelLocator {
  static let help: ArgumentHelp = """
    The model: an .xcdatamodeld, .xcdatamodel, .momd or .mom, a JSON model, or a store that holds one. Of several versions it is the current one, \
    or else the newest that the file fits; the path of one .xcdatamodel in the bundle gives that version. Without it, the model in the store's own \
    file is taken, or the .xcdatamodeld beside it, or one is made of what the file tells of its records.
    """

  private static let bundleSuffix = ".xcdatamodeld"
  private static let advice = "Give an .xcdatamodeld, a JSON model, or a store that holds one."

  let registry: StoreRegistry
  let fileSystem: any FileSystem

  /// The model that the user gives.
  func model(at path: String, version: String? = nil) throws -> LocatedModel {
    guard let status = try fileSystem.status(atPath: path) else {
      throw PersistenceError(.modelMissing, "There is no such file or folder.", context: .init(path: path))
    }
    guard status.isRegularFile, !Self.fileNames.contains(where: path.hasSuffix) else {
      return try dataModel(at: path, version: version)
    }
    guard version == nil else {
      throw ToolError(at: path, "This holds one model, which has no versions. Leave the version out.")
    }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    try file.checkIsPlain()
    // A file of that name is to be a model, also where it begins otherwise.
    let isJSON = PathParts.fileExtension(path) == "json"
    let first = try firstCharacter(of: file)
    let isStore = try first == "<" && Self.storeElements.contains(firstElement(of: file))
    switch isJSON ? "{" : first {
    case "{":
      let model = try file.reading { try ManagedObjectModel.decoded(from: Data(try file.bytes())) }
      return LocatedModel(model, path: path)
    case "<" where !isStore: return try dataModel(at: path)
    default: return try embeddedModel(file)
    }
  }

  /// The model of a store about which the user says nothing.
  func model(forStoreAt place: StorePlace, _ type: StoreType, _ format: any StoreFormat) throws -> LocatedModel {
    if let model = try embeddedModel(.reading(place, type)) { return LocatedModel(model, path: nil) }
    // At a URL a store that is not there looks like one without a model until its metadata are asked for.
    if place.path == nil { _ = try storeManager().metadata(.reading(place, type)) }
    do {
      return try dataModel(at: try bundle(beside: place))
    } catch var error as PersistenceError
      where error.code == .modelMissing && (format as? any FileFormat)?.recoversModels == true
    {
      let advice = error.recovery.map { $0.text + " " } ?? ""
      error.recovery = .custom(advice + "Or make one of its records with heartwood recover-model.")
      throw error
    }
  }

  /// The model of a damaged store about which the user says nothing: the one in its file, if that part is sound, or else as of any other.
  func model(forDamagedStoreAt place: StorePlace, _ type: StoreType, _ format: any StoreFormat) throws -> LocatedModel {
    if let path = place.path, let format = format as? any FileFormat {
      let file = try StoreInput(try fileSystem.openFile(atPath: path))
      if let model = format.salvageModel(from: file, options: .readOnly) { return LocatedModel(model, path: nil) }
      // try?: what cannot be read tells of no model, and the salvage that follows says why.
    } else if let model = try? embeddedModel(.reading(place, type)) {
      return LocatedModel(model, path: nil)
    }
    do {
      return try dataModel(at: try bundle(beside: place))
    } catch let error as PersistenceError where error.code == .modelMissing {
      // What cannot be read tells of no model.
      guard let model = try? inferredModel(forStoreAt: place, format) else { throw error }
      return model
    }
  }

  /// Whether a store that is new at `place` is opened without being told its model: its type keeps it, or one lies beside it.
  func hasModel(ofStoreAt place: StorePlace, _ format: any StoreFormat) -> Bool {
    format.typeDescription.capabilities.supports(.embeddedModel) || (try? bundle(beside: place)) != nil
  }

  /// The other versions in the bundle of a model, the newest first where all can be read. One that cannot be is left out: the store may be of
  /// another.
  func otherVersions(of model: LocatedModel) throws -> [LocatedModel] {
    guard let path = model.path, model.file != nil else { return [] }
    let bundle = URL(argument: path)
    let current = try DataModelFile.currentVersion(at: bundle)
    let inOrder = try? DataModelFile.models(at: bundle).map(\.version)
    let versions = try inOrder ?? DataModelFile.versions(at: bundle)
    return versions.reversed().filter { $0 != current }.compactMap { try? dataModel(at: path, version: $0) }
  }

  /// A model that is made of what the store's file tells of its records, where it tells enough.
  ///
  /// - Parameter other: a model that was found for the file and is not its own.
  func inferredModel(
    forStoreAt place: StorePlace,
    _ format: any StoreFormat,
    inPlaceOf other: LocatedModel? = nil
  ) throws -> LocatedModel? {
    guard let path = place.path, let format = format as? any FileFormat else { return nil }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    let foreign = other?.path.map { ", and was not written with that of \($0)" } ?? ""
    let note =
      "\(path): The file holds no model\(foreign), so one was made of its records. Names may differ from the real ones: --model gives it."
    return try format.inferModel(from: file, options: .readOnly).map {
      LocatedModel($0, path: nil, notes: [note], isInferred: true)
    }
  }

  private func firstCharacter(of file: StoreInput) throws(PersistenceError) -> Character? {
    let prefix = try file.bytes(from: 0, count: 64)
    return String(decoding: prefix, as: UTF8.self).first { !$0.isWhitespace && $0 != "\u{FEFF}" }
  }

  /// The first elements of stores in XML.
  private static let storeElements: Set = ["database", "plist"]
  /// How much of a file is looked at to find its first element.
  private static let prologueLength = 4096

  /// The name of the first element of an XML file; empty where that is not found.
  private func firstElement(of file: StoreInput) throws(PersistenceError) -> String {
    let prefix = String(decoding: try file.bytes(from: 0, count: Self.prologueLength), as: UTF8.self)
    // Declarations begin with ? or !; a comment may hold anything.
    let tags = prefix.replacing(/<!--.*?-->/.dotMatchesNewlines(), with: "").split(separator: "<").dropFirst()
    guard let tag = tags.first(where: { $0.first?.isLetter ?? false }) else { return "" }
    return String(tag.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" })
  }

  /// How the names of files end whose form cannot be told from stores' by their content.
  private static let fileNames = [".mom", ".omo", "/elements"]

  private func dataModel(at path: String, version: String? = nil) throws -> LocatedModel {
    let file = try DataModelFile(contentsOf: URL(argument: path), version: version)
    let notes = file.notes.map { "\(file.url.path):\($0.line.map { "\($0):" } ?? "") \($0.message)" }
    return LocatedModel(file.model, path: path, notes: notes, file: file)
  }

  private func embeddedModel(_ file: StoreInput) throws -> LocatedModel {
    let type = try type(of: file)
    if let model = try embeddedModel(.reading(file.path, type)) { return LocatedModel(model, path: file.path) }
    throw PersistenceError(
      .modelMissing,
      "The file holds no model.",
      recovery: "\(Self.advice) Of a store's records one may be made by commands that read it, such as heartwood info.",
      context: .init(path: file.path, storeType: type)
    )
  }
}

// MARK: In the store

extension ModelLocator {
  /// The type of a store that is to hold a model.
  private func type(of file: StoreInput) throws -> StoreType {
    do {
      return try registry.type(ofFileAt: file.path, in: fileSystem)
    } catch let error where error.code == .storeTypeUndetermined {
      throw PersistenceError(
        .modelMissing,
        "It is no model.",
        recovery: .custom(Self.advice),
        context: .init(path: file.path)
      )
    }
  }

  /// The model that is kept with a store; nil if none is.
  private func embeddedModel(_ request: StoreManager.Request) throws -> ManagedObjectModel? {
    try storeManager().embeddedModel(request)
  }

  /// Reads what can be read of a store without its model.
  private func storeManager() throws -> StoreManager {
    StoreManager(model: try ManagedObjectModel(entities: []), registry: registry, fileSystem: fileSystem)
  }
}

// MARK: Beside the store

extension ModelLocator {
  /// The bundle in the store's folder: the one of the store's name, or of the longest part of it before a dot, or else the only one.
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

  /// The name in small letters, without the dots that it begins with, and what is left of it before its last dot, the one before that, and so on.
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
