import Heartwood
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting

/// Reads a file of an atomic store, whole: what it says of itself, and every value of every record. What is left of a damaged one is
/// read, too.
enum StoreTrial {
  private static let path = "/trial"

  static func run(_ bytes: [UInt8], as type: StoreType) throws {
    let files = InMemoryFileSystem()
    try files.setContents(bytes, ofFileAtPath: path)
    guard let format = try StoreRegistry.default.format(for: type) as? any FileFormat else { return }
    let file = try StoreInput(try files.openFile(atPath: path))
    _ = try ParserTrial.attempt { _ = try format.readMetadata(from: file, options: StoreOptions()) }
    _ = try ParserTrial.attempt { _ = try format.readFormatVersion(from: file, options: StoreOptions()) }
    try readFirst(of: models(of: file, format)) { try read(files, type, $0) }
  }

  /// The model that the file brings, or the one that it seems to be of, or else those for all files.
  private static func models(of file: StoreInput, _ format: any FileFormat) throws -> [ManagedObjectModel] {
    if format.typeDescription.type == .csv { return try TrialModel.lists.get() }
    let own = try format.readModel(from: file, options: StoreOptions())
    return [try own ?? format.inferModel(from: file, options: StoreOptions()) ?? TrialModel.model.get()]
  }

  /// Tries one model after the other, and throws what the last one's error is.
  private static func readFirst(of models: [ManagedObjectModel], _ read: (ManagedObjectModel) throws -> Void) throws {
    for model in models.dropLast() where try ParserTrial.attempt({ try read(model) }) { return }
    if let last = models.last { try read(last) }
  }

  private static func read(_ files: InMemoryFileSystem, _ type: StoreType, _ model: ManagedObjectModel) throws {
    var options = StoreOptions()
    options[.ignoresModelVersion] = true
    let storeManager = StoreManager(model: model, registry: .default, fileSystem: files)
    let request = StoreManager.Request(type: type, path: path, options: options)
    _ = try ParserTrial.attempt { try readAll(of: try storeManager.salvage(request).store) }
    try readAll(of: try storeManager.open(request))
  }

  static func readAll(of store: PersistentStore) throws {
    let contents = try store.engine.contents().verified()
    for node in contents.nodes { _ = node.values }
  }
}
