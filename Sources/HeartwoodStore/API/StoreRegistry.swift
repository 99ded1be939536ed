import HeartwoodModel
import Synchronization

/// The kinds of stores that are known, by their type strings.
///
/// Stores that ship and stores of your own are registered alike:
///
///     try registry.register(JSONLinesStore.self)
public final class StoreRegistry: Sendable {
  private let classes: Mutex<[(description: StoreTypeDescription, storeClass: any StoreClass.Type)]>
  private let declared = Mutex<[DocumentType]>([])

  /// Makes a registry that knows no store yet.
  public init() {
    classes = Mutex([])
  }

  /// Makes a registry that knows `storeClasses`, in this order.
  ///
  ///     let registry = try StoreRegistry([BinaryStore.self, JSONLinesStore.self])
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeAlreadyRegistered`` where two of them have one type string.
  public convenience init(_ storeClasses: [any StoreClass.Type]) throws(PersistenceError) {
    self.init()
    for storeClass in storeClasses { try register(storeClass) }
  }

  /// Makes `storeClass` known by the type string of its description.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeAlreadyRegistered``.
  public func register(_ storeClass: any StoreClass.Type) throws(PersistenceError) {
    let description = storeClass.typeDescription
    let isNew = classes.withLock { classes in
      guard !classes.contains(where: { $0.description.type == description.type }) else { return false }
      classes.append((description, storeClass))
      return true
    }
    guard isNew else {
      throw PersistenceError(
        .storeTypeAlreadyRegistered,
        "A store class is registered for the type \(description.type) already.",
        recovery: "Choose another type string, or unregister the other class.",
        context: .init(storeType: description.type)
      )
    }
  }

  /// Makes the class of `type` unknown again, with the documents that were declared to be of it. Stores that are open stay open.
  public func unregister(_ type: StoreType) {
    classes.withLock { $0.removeAll { $0.description.type == type } }
    declared.withLock { $0.removeAll { $0.storeType == type } }
  }

  /// The kinds of documents that were declared, in that order.
  var declaredDocumentTypes: [DocumentType] { declared.withLock { $0 } }

  func addDeclared(_ documentTypes: [DocumentType]) {
    declared.withLock { $0 += documentTypes }
  }
}

extension StoreRegistry {
  /// What is registered, in the order of registration.
  public var typeDescriptions: [StoreTypeDescription] {
    classes.withLock { $0.map(\.description) }
  }

  /// The class registered for `type`.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUnknown``.
  public func storeClass(for type: StoreType) throws(PersistenceError) -> any StoreClass.Type {
    let found = classes.withLock { $0.first { $0.description.type == type }?.storeClass }
    guard let found else {
      let known = typeDescriptions.map(\.type.rawValue).joined(separator: ", ")
      throw PersistenceError(
        .storeTypeUnknown,
        "No store class is registered for the type \(type). \(known.isEmpty ? "None is registered." : "Registered are \(known).")",
        context: .init(storeType: type)
      )
    }
    return found
  }

  /// The types whose files have names like `path`: those of declared documents first, then in the order of registration.
  public func types(forFileName path: String) -> [StoreType] {
    documentTypes(forFileName: path).map(\.storeType).reduce(into: []) { types, type in
      if !types.contains(type) { types.append(type) }
    }
  }

  /// The type whose files have the MIME type `mimeType`, or nil where none has. Parameters, as in `text/csv; charset=utf-8`, do not
  /// matter.
  public func type(forMIMEType mimeType: String) -> StoreType? {
    let name = mimeType.prefix { $0 != ";" && $0 != " " }.lowercased()
    return documentTypes.first { $0.mimeTypes.contains(name) }?.storeType
  }

  /// The type whose files have the uniform type identifier `contentType`, or nil where none was declared to.
  public func type(forContentType contentType: String) -> StoreType? {
    let name = contentType.lowercased()
    return documentTypes.first { $0.contentTypes.contains { $0.lowercased() == name } }?.storeType
  }

  /// How much of a file is read to tell its type.
  static let prefixLength = 512

  /// The type of the file at `path`, told by its name, or else by how it begins, which is read.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUndetermined``.
  public func type(
    ofFileAt path: String,
    in fileSystem: any FileSystem = POSIXFileSystem()
  ) throws(PersistenceError) -> StoreType {
    let named = types(forFileName: path)
    if named.count == 1 { return named[0] }
    if let status = try fileSystem.status(atPath: path), status.isRegularFile {
      let prefix = try StoreInput(try fileSystem.openFile(atPath: path)).bytes(from: 0, count: Self.prefixLength)
      let candidates = classes.withLock { $0 }.filter { named.isEmpty || named.contains($0.description.type) }
      if let match = candidates.first(where: { $0.storeClass.recognizes(prefix: prefix) }) {
        return match.description.type
      }
    }
    if let first = named.first { return first }
    throw PersistenceError(
      .storeTypeUndetermined,
      "Neither the name nor the content of the file tells the type of its store.",
      recovery: .giveStoreType(extensions: documentTypes.flatMap(\.fileExtensions)),
      context: .init(path: path)
    )
  }
}
