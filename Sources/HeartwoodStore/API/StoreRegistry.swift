import HeartwoodFoundation
import HeartwoodModel
import Synchronization

/// The kinds of stores that are known, by their type strings.
///
/// Stores that ship and stores of your own are registered alike, by their class or by a format that your application makes:
///
///     try registry.register(JSONLinesStore.self)
///     try registry.register(RecordServiceFormat(client: client))
public final class StoreRegistry: Sendable {
  private let formats: Mutex<[any StoreFormat]>
  private let declared = Mutex<[DocumentType]>([])

  /// Makes a registry that knows no store yet.
  public init() {
    formats = Mutex([])
  }

  /// Makes a registry that knows `storeClasses`, in this order.
  ///
  ///     let registry = try StoreRegistry([BinaryStore.self, JSONLinesStore.self])
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeAlreadyRegistered`` if two of them have one type string.
  public convenience init(_ storeClasses: [any StoreClass.Type]) throws(PersistenceError) {
    self.init()
    for storeClass in storeClasses { try register(storeClass) }
  }

  /// Makes `storeClass` known by the type string of its description.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeAlreadyRegistered``, ``PersistenceError/Code/capabilityMissing`` if the class is neither an
  ///   ``AtomicStore`` nor an ``IncrementalStore``.
  public func register(_ storeClass: any StoreClass.Type) throws(PersistenceError) {
    try register(try StoreManager.Kind(storeClass).format)
  }

  /// Makes `format` known by the type string of its description.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeAlreadyRegistered``, ``PersistenceError/Code/capabilityMissing`` if the format is neither an
  ///   ``AtomicStoreFormat`` nor an ``IncrementalStoreFormat``.
  public func register(_ format: any StoreFormat) throws(PersistenceError) {
    _ = try StoreManager.Kind(format)
    let type = format.typeDescription.type
    let isNew = formats.withLock { formats in
      guard !formats.contains(where: { $0.typeDescription.type == type }) else { return false }
      formats.append(format)
      return true
    }
    guard isNew else {
      throw PersistenceError(
        .storeTypeAlreadyRegistered,
        "A store is registered for the type \(type) already.",
        recovery: "Choose another type string, or unregister the other one.",
        context: .init(storeType: type)
      )
    }
  }

  /// Makes the stores of `type` unknown again, with the documents that were declared to be of it. Stores that are open stay open.
  public func unregister(_ type: StoreType) {
    formats.withLock { $0.removeAll { $0.typeDescription.type == type } }
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
    formats.withLock { $0.map(\.typeDescription) }
  }

  /// The format registered for `type`.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUnknown``.
  public func format(for type: StoreType) throws(PersistenceError) -> any StoreFormat {
    if let format = formats.withLock({ $0.first { $0.typeDescription.type == type } }) { return format }
    let known = typeDescriptions.map(\.type.rawValue).joined(separator: ", ")
    throw PersistenceError(
      .storeTypeUnknown,
      "No store is registered for the type \(type). \(known.isEmpty ? "None is registered." : "Registered are \(known).")",
      context: .init(storeType: type)
    )
  }

  /// The type of the store at a place: of a file by its name, or else by how it begins, which is read; of another URL by its scheme.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUndetermined``.
  public func type(
    ofStoreAt place: StorePlace,
    in fileSystem: any FileSystem = POSIXFileSystem()
  ) throws(PersistenceError) -> StoreType {
    switch place {
    case .file(let path): try type(ofFileAt: path, in: fileSystem)
    case .url: try type(ofPlaceWithScheme: place)
    }
  }

  /// The types whose stores are at URLs with `scheme`, in the order of registration.
  public func types(forURLScheme scheme: String) -> [StoreType] {
    let scheme = scheme.lowercased()
    return typeDescriptions.filter { $0.urlSchemes.contains(scheme) }.map(\.type)
  }

  private func type(ofPlaceWithScheme place: StorePlace) throws(PersistenceError) -> StoreType {
    let scheme = place.scheme ?? ""
    if let type = types(forURLScheme: scheme).first { return type }
    let known = typeDescriptions.flatMap(\.urlSchemes).map { "\($0)://" }.joined(separator: ", ")
    throw PersistenceError(
      .storeTypeUndetermined,
      "No store is registered for URLs with the scheme \(scheme).",
      recovery: known.isEmpty
        ? "Give a file, or register a store for such URLs." : "Give a file, or a URL that begins with \(known).",
      context: .init(path: place.description)
    )
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
      let files = formats.withLock { $0 }.compactMap { $0 as? any FileFormat }
      let candidates = files.filter { named.isEmpty || named.contains($0.typeDescription.type) }
      if let match = candidates.first(where: { $0.recognizes(prefix: prefix) }) { return match.typeDescription.type }
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
