import HeartwoodFoundation
import HeartwoodModel
import Synchronization

/// The store types that a coordinator can open, by their type strings.
///
/// `StoreRegistry.default` in Heartwood has the stores that ship. Register stores of your own there, or in a registry
/// of your own. Both are registered in the same way: by their class, or by a format that the application creates:
///
///     let registry = try StoreRegistry([BinaryStore.self])
///     try registry.register(JSONLinesStore.self)
///     try registry.register(RecordServiceFormat(client: client))
///     let type = try registry.type(ofFileAt: "groceries.jsonl")   // "JSONLines"
///
/// All methods can be called from any thread. Only ``type(ofStoreAt:in:)`` and ``type(ofFileAt:in:)`` may read a file.
public final class StoreRegistry: Sendable {
  private let formats: Mutex<[any StoreFormat]>
  private let declared = Mutex<[DocumentType]>([])

  /// Creates a registry without any store types. A coordinator that uses it opens only the types that are registered
  /// later; `StoreRegistry.default` has those that ship.
  public init() {
    formats = Mutex([])
  }

  /// Creates a registry with the types of `storeClasses`, in this order.
  ///
  ///     let registry = try StoreRegistry([BinaryStore.self, JSONLinesStore.self])
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeAlreadyRegistered`` if two of them have the same type string,
  ///   ``PersistenceError/Code/capabilityMissing`` if a class is neither an ``AtomicStore`` nor an
  ///   ``IncrementalStore``.
  public convenience init(_ storeClasses: [any StoreClass.Type]) throws(PersistenceError) {
    self.init()
    for storeClass in storeClasses { try register(storeClass) }
  }

  /// Registers `storeClass` under the type string of its description.
  ///
  ///     try registry.register(JSONLinesStore.self)
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeAlreadyRegistered`` if the type string is taken,
  ///   ``PersistenceError/Code/capabilityMissing`` if the class is neither an ``AtomicStore`` nor an
  ///   ``IncrementalStore``. The registry is then unchanged.
  public func register(_ storeClass: any StoreClass.Type) throws(PersistenceError) {
    try register(try StoreManager.Kind(storeClass).format)
  }

  /// Registers `format` under the type string of its description.
  ///
  ///     try registry.register(RecordServiceFormat(client: client))
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeAlreadyRegistered`` if the type string is taken,
  ///   ``PersistenceError/Code/capabilityMissing`` if the format is neither an ``AtomicStoreFormat`` nor an
  ///   ``IncrementalStoreFormat``. The registry is then unchanged.
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
        recovery:
          "Register a store once, when the program starts. If it is another store, choose another type string, or unregister the first.",
        context: .init(storeType: type)
      )
    }
  }

  /// Removes `type`, together with the document types that were declared for it. Stores that are open stay open.
  ///
  /// It does nothing if the type is not registered.
  public func unregister(_ type: StoreType) {
    formats.withLock { $0.removeAll { $0.typeDescription.type == type } }
    declared.withLock { $0.removeAll { $0.storeType == type } }
  }

  /// The document types that were declared, in the order of their declaration.
  var declaredDocumentTypes: [DocumentType] { declared.withLock { $0 } }

  func addDeclared(_ documentTypes: [DocumentType]) {
    declared.withLock { $0 += documentTypes }
  }
}

extension StoreRegistry {
  /// The descriptions of all registered types, in the order of registration.
  public var typeDescriptions: [StoreTypeDescription] {
    formats.withLock { $0.map(\.typeDescription) }
  }

  /// Returns the format that is registered for `type`. For a registered class, this is a format that calls its static
  /// members.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUnknown`` if the type is not registered. The message lists the
  ///   registered types.
  public func format(for type: StoreType) throws(PersistenceError) -> any StoreFormat {
    if let format = formats.withLock({ $0.first { $0.typeDescription.type == type } }) { return format }
    let known = typeDescriptions.map(\.type.rawValue).joined(separator: ", ")
    throw PersistenceError(
      .storeTypeUnknown,
      "No store is registered for the type \(type). \(known.isEmpty ? "None is registered." : "Registered are \(known).")",
      context: .init(storeType: type)
    )
  }

  /// Returns the type of the store at a place: for a file see ``type(ofFileAt:in:)``; for another URL, the first
  /// registered type that has its scheme. Only a file may be read.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUndetermined`` if no type matches, and an error of the file system if a
  ///   file cannot be read.
  public func type(
    ofStoreAt place: StorePlace,
    in fileSystem: any FileSystem = POSIXFileSystem()
  ) throws(PersistenceError) -> StoreType {
    switch place {
    case .file(let path): try type(ofFileAt: path, in: fileSystem)
    case .url: try type(ofPlaceWithScheme: place)
    }
  }

  /// Returns the types whose stores have URLs with `scheme`, in any case, in the order of registration.
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

  /// Returns the types whose files have the same file name extension as `path`: the types of declared documents first,
  /// then the registered types in the order of registration. It reads no file.
  public func types(forFileName path: String) -> [StoreType] {
    documentTypes(forFileName: path).map(\.storeType).reduce(into: []) { types, type in
      if !types.contains(type) { types.append(type) }
    }
  }

  /// Returns the type whose files have the MIME type `mimeType`; nil if there is none. Parameters, as in
  /// `text/csv; charset=utf-8`, are ignored.
  public func type(forMIMEType mimeType: String) -> StoreType? {
    let name = mimeType.prefix { $0 != ";" && $0 != " " }.lowercased()
    return documentTypes.first { $0.mimeTypes.contains(name) }?.storeType
  }

  /// Returns the type whose files have the uniform type identifier `contentType`; nil if no document type was declared
  /// with it.
  public func type(forContentType contentType: String) -> StoreType? {
    let name = contentType.lowercased()
    return documentTypes.first { $0.contentTypes.contains { $0.lowercased() == name } }?.storeType
  }

  /// The number of bytes of a file that are read to find out its type.
  static let prefixLength = 512

  /// Returns the type of the file at `path`, by its name or by its first bytes.
  ///
  /// If exactly one type has the file name extension, no file is read. Otherwise up to 512 bytes of the file are read,
  /// and the formats with the extension (or all, if none has it) are asked whether they recognize these bytes. If none
  /// does, or if there is no file, the first type with the extension is returned.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUndetermined`` if no type matches, and an error of the file system if
  ///   the file cannot be read.
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
      "Neither the name nor the content of the file shows the type of its store.",
      recovery: .giveStoreType(extensions: documentTypes.flatMap(\.fileExtensions)),
      context: .init(path: path)
    )
  }
}
