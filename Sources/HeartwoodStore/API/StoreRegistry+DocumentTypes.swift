#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension StoreRegistry {
  /// The kinds of documents that are known: those that were declared, in that order, and then one for each registered type whose
  /// files have names.
  public var documentTypes: [DocumentType] {
    let named = typeDescriptions.filter { !$0.fileExtensions.isEmpty || !$0.mimeTypes.isEmpty }
    return declaredDocumentTypes + named.map(DocumentType.init)
  }

  /// The kinds of documents whose files have names like `path`, those that were declared first.
  public func documentTypes(forFileName path: String) -> [DocumentType] {
    let fileExtension = PathParts.fileExtension(path)
    return documentTypes.filter { $0.hasExtension(fileExtension) }
  }

  /// Makes kinds of documents known, beside those that are. What is declared goes before what a store type says of itself.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUnknown`` where the store type of one is not registered,
  ///   ``PersistenceError/Code/valueUnsupported`` where a file name extension is none. None of them is known then.
  public func declare(_ documentTypes: [DocumentType]) throws(PersistenceError) {
    for documentType in documentTypes {
      try check(documentType)
      try documentType.checkExtensions()
    }
    addDeclared(documentTypes)
  }

  private func check(_ documentType: DocumentType) throws(PersistenceError) {
    do {
      _ = try storeClass(for: documentType.storeType)
    } catch {
      throw error.explaining("The document type \(documentType.name) cannot be kept. \(error.problem)")
    }
  }
}

// MARK: Info.plist

extension StoreRegistry {
  /// The kinds of documents that the `Info.plist` of an Apple application declares to be kept by stores: those of its
  /// `CFBundleDocumentTypes` that have an `NSPersistentStoreTypeKey`. Give them to ``declare(_:)`` to make them known.
  ///
  /// File name extensions and MIME types are those of the entry, or of its `LSItemContentTypes` where the file declares these too, or
  /// else those of the store type. Entries without `NSPersistentStoreTypeKey` are of no store and left out.
  ///
  /// - Parameter data: a property list of any kind.
  /// - Throws: ``PersistenceError/Code/fileMalformed`` where it is none or says something of another type than it must,
  ///   ``PersistenceError/Code/storeTypeUnknown``, ``PersistenceError/Code/valueUnsupported`` where a role is none.
  public func documentTypes(fromInfoPlist data: Data) throws(PersistenceError) -> [DocumentType] {
    let list: InfoPropertyList
    do {
      list = try PropertyListDecoder().decode(InfoPropertyList.self, from: data)
    } catch {
      throw PersistenceError(.fileMalformed, Self.explanation(of: error), underlyingError: error)
    }
    var types: [DocumentType] = []
    for (index, document) in list.documents.enumerated() {
      if let type = try documentType(document, number: index + 1, in: list) { types.append(type) }
    }
    return types
  }

  /// The kinds of documents that the `Info.plist` at `url` declares: ``documentTypes(fromInfoPlist:)``.
  public func documentTypes(
    fromInfoPlistAt url: URL,
    in fileSystem: any FileSystem = POSIXFileSystem()
  ) throws(PersistenceError) -> [DocumentType] {
    let bytes = try StoreInput(try fileSystem.openFile(atPath: url.path)).bytes()
    do {
      return try documentTypes(fromInfoPlist: Data(bytes))
    } catch {
      var error = error
      error.context.path = url.path
      throw error
    }
  }

  private func documentType(
    _ document: InfoPropertyList.Document,
    number: Int,
    in list: InfoPropertyList
  ) throws(PersistenceError) -> DocumentType? {
    guard let typeName = document.storeType else { return nil }
    let declarations = (document.contentTypes ?? []).compactMap(list.declaration)
    var type = DocumentType(
      name: document.name ?? "number \(number)",
      storeType: StoreType(typeName),
      fileExtensions: document.fileExtensions ?? declarations.flatMap { $0.tags?.fileExtensions?.all ?? [] },
      mimeTypes: document.mimeTypes ?? declarations.flatMap { $0.tags?.mimeTypes?.all ?? [] },
      contentTypes: document.contentTypes ?? [],
      role: try role(document.role, of: document.name ?? "number \(number)")
    )
    try check(type)
    try type.checkExtensions()
    guard let own = typeDescriptions.first(where: { $0.type == type.storeType }) else { return type }
    if document.name == nil { type.name = own.displayName }
    if type.fileExtensions.isEmpty { type.fileExtensions = own.fileExtensions }
    if type.mimeTypes.isEmpty { type.mimeTypes = own.mimeTypes }
    return type
  }

  private func role(_ name: String?, of document: String) throws(PersistenceError) -> DocumentType.Role {
    guard let name else { return .editor }
    if let role = DocumentType.Role(rawValue: name) { return role }
    let known = DocumentType.Role.allCases.map(\.rawValue).joined(separator: ", ")
    throw PersistenceError(
      .valueUnsupported,
      "The document type \(document) has the CFBundleTypeRole \(name).",
      recovery: "Give it one of \(known)."
    )
  }

  private static func explanation(of error: any Error) -> String {
    switch error as? DecodingError {
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(place(context.codingPath)) is of another type than it must be: \(context.debugDescription)"
    case .keyNotFound(let key, let context): "\(place(context.codingPath)) has no \(key.stringValue)."
    case .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "It is not a property list." : "\(place(context.codingPath)) is wrong: \(context.debugDescription)"
    default: "It is not a property list."
    }
  }

  /// Where something is in the property list: `CFBundleDocumentTypes[0].CFBundleTypeExtensions`.
  private static func place(_ path: [any CodingKey]) -> String {
    let place = path.reduce(into: "") { text, key in
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
    return place.isEmpty ? "The property list" : place
  }
}
