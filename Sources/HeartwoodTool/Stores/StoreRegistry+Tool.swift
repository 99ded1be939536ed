import Heartwood
import HeartwoodRecordText
import HeartwoodFoundation
import HeartwoodPostgreSQL
import HeartwoodSQLite
import HeartwoodStore

extension StoreRegistry {
  /// The store types of Heartwood, including SQLite and PostgreSQL.
  static let tool: StoreRegistry = {
    do {
      let registry = try StoreRegistry(StoreRegistry.shippedStoreClasses + [SQLiteStore.self])
      try registry.register(PostgreSQLFormat())
      return registry
    } catch {
      preconditionFailure("The types of the stores that ship differ: \(error)")
    }
  }()
}

// MARK: FileSystem: stores

extension FileSystem {
  /// Returns the status of a store's file. An empty file is refused, because it would be a new store without contents.
  func storeStatus(atPath path: String) throws(PersistenceError) -> FileStatus {
    guard let status = try status(atPath: path) else {
      throw PersistenceError(
        .fileNotFound,
        "There is no such file.",
        recovery: closestName(to: path).map { "Did you mean \($0)?" },
        context: .init(path: path)
      )
    }
    guard status.isRegularFile else {
      let isModel = Self.modelExtensions.contains(PathParts.fileExtension(path))
      throw PersistenceError(
        .fileReadFailed,
        isModel ? "It is a model, and not a store." : "It is not a file.",
        recovery: isModel ? "Give a store; heartwood model show prints a model." : nil,
        context: .init(path: path)
      )
    }
    guard status.size > 0 else {
      throw PersistenceError(.fileMalformed, "The file is empty; there is no store in it.", context: .init(path: path))
    }
    try StoreInput(try openFile(atPath: path)).checkIsPlain()
    return status
  }

  /// The extensions of folders that are models.
  private static var modelExtensions: Set<String> { ["xcdatamodeld", "xcdatamodel", "momd"] }

  /// Returns the path of the file in the same folder whose name is closest to that of `path`, if it may be a typing
  /// mistake.
  private func closestName(to path: String) -> String? {
    let (folder, name) = PathParts.split(path)
    // try?: if the folder cannot be read either, there is no name to suggest.
    let entries = (try? entries(ofFolderAtPath: folder)) ?? []
    let names = entries.filter { $0.kind == .file }.map(\.name)
    guard let closest = NameSuggestion.closest(to: name, among: names) else { return nil }
    return path.contains("/") ? PathParts.join(folder, closest) : closest
  }

  /// Returns the size of a store in bytes: its file, its write-ahead log and its support folder. What cannot be read
  /// there is not counted. Returns nil for a store that is not a file.
  func storeSize(at place: StorePlace, _ format: any StoreFormat) throws(PersistenceError) -> Int? {
    guard let path = place.path, let format = format as? any FileFormat else { return nil }
    let size = try status(atPath: path)?.size ?? 0
    let logs = format.sideFiles(ofStoreAt: path).filter { $0.hasSuffix(Self.logSuffix) }
    let folder = format.supportFolder(ofStoreAt: path)
    return logs.reduce(size) { $0 + fileSize(atPath: $1) } + (folder.map(self.size(ofFolderAtPath:)) ?? 0)
  }

  /// The suffix of SQLite's write-ahead log. SQLite's other files do not contain data of the store.
  private static var logSuffix: String { "-wal" }

  private func fileSize(atPath path: String) -> Int { (try? status(atPath: path))?.size ?? 0 }

  private func size(ofFolderAtPath path: String) -> Int {
    ((try? entries(ofFolderAtPath: path)) ?? []).reduce(0) { size, entry in
      let path = PathParts.join(path, entry.name)
      switch entry.kind {
      case .file: return size + fileSize(atPath: path)
      case .folder: return size + self.size(ofFolderAtPath: path)
      case .other: return size
      }
    }
  }
}

// MARK: StoreInput: wrapped

extension StoreInput {
  /// The first bytes of an encrypted store, as described in Formats/Encrypted/README.md.
  private static let encryptedMagic: [UInt8] = [0x48, 0x57, 0x45, 0x4E, 0x43, 0x0D, 0x0A, 0x1A]
  private static let gzipMagic: [UInt8] = [0x1F, 0x8B]

  /// Refuses an encrypted or compressed store, whatever its name is, since no type of the tool reads it.
  func checkIsPlain() throws(PersistenceError) {
    let prefix = try bytes(from: 0, count: Self.encryptedMagic.count)
    if prefix == Self.encryptedMagic {
      throw wrapped(
        "This is an encrypted store of Heartwood, for which the tool has no key.",
        recovery: "Convert it in the application, or decrypt it with Formats/Encrypted/reader.py."
      )
    }
    guard prefix.starts(with: Self.gzipMagic) else { return }
    let name = DisplayText.safe(path)
    let command = PathParts.fileExtension(path) == "gz" ? "gunzip --keep \(name)" : "gunzip < \(name) > NAME"
    throw wrapped("The file is compressed with gzip.", recovery: "Unpack it first: \(command)")
  }

  private func wrapped(_ problem: String, recovery: PersistenceError.Recovery) -> PersistenceError {
    PersistenceError(.fileFormatUnsupported, problem, recovery: recovery, context: .init(path: path))
  }
}

// MARK: StorePlace: argument

extension StorePlace {
  /// Creates a place from an argument: a URL if it begins with a scheme and `://`, and a file otherwise.
  init(argument: String) {
    let isURL = argument.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:\/\//) != nil
    self = isURL ? URL(string: argument).map { StorePlace($0) } ?? .file(path: argument) : .file(path: argument)
  }

  /// The URL for a coordinator. A tilde in a file path is not expanded.
  var argumentURL: URL { path.map { URL(argument: $0) } ?? url }
}

// MARK: URL: argument

extension URL {
  /// Creates the URL of a file from an argument. A tilde is part of the name, because the shell has expanded those that
  /// stand for a home directory.
  init(argument path: String) {
    self.init(filePath: path.hasPrefix("~") ? "./" + path : path)
  }
}
