public import HeartwoodFoundation

/// A kind of document of an application: what its files are called, and the type of store that keeps them.
///
/// Every registered store type is one by itself. An application declares others in a ``StoreRegistry``, in code or by its `Info.plist`,
/// so that a file called `groceries.todo` is opened as a CSV store.
public struct DocumentType: Sendable, Hashable {
  /// What the application does with such documents.
  public enum Role: String, Sendable, Hashable, CaseIterable {
    /// It reads and writes them.
    case editor = "Editor"
    /// It reads them.
    case viewer = "Viewer"
    /// It provides services for them.
    case shell = "Shell"
    /// It shows what they look like.
    case quickLookGenerator = "QLGenerator"
    /// It does nothing with them.
    case none = "None"
  }

  /// What a person calls such a document.
  public var name: String
  /// The registered type of the store that keeps such a document.
  public var storeType: StoreType
  /// The file name extensions, without the dot and in lower case, the preferred one first.
  public var fileExtensions: [String]
  /// The MIME types, in lower case.
  public var mimeTypes: [String]
  /// The uniform type identifiers of Apple's systems.
  public var contentTypes: [String]
  /// What the application does with such documents.
  public var role: Role

  /// Makes a document type; a file name extension is given without the dot.
  public init(
    name: String,
    storeType: StoreType,
    fileExtensions: [String],
    mimeTypes: [String] = [],
    contentTypes: [String] = [],
    role: Role = .editor
  ) {
    self.name = name
    self.storeType = storeType
    self.fileExtensions = fileExtensions.map { $0.lowercased() }
    self.mimeTypes = mimeTypes.map { $0.lowercased() }
    self.contentTypes = contentTypes
    self.role = role
  }

  /// The documents that files of a registered type are by themselves.
  init(_ description: StoreTypeDescription) {
    self.init(
      name: description.displayName,
      storeType: description.type,
      fileExtensions: description.fileExtensions,
      mimeTypes: description.mimeTypes
    )
  }
}

extension DocumentType {
  /// Whether a file with the extension, given in lower case, may be one.
  func hasExtension(_ fileExtension: String) -> Bool { fileExtensions.contains(fileExtension) }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` where an extension is none.
  func checkExtensions() throws(PersistenceError) {
    let isNone = { (name: String) in name.isEmpty || name.contains { $0 == "." || $0 == "/" || $0 == "*" } }
    guard let wrong = fileExtensions.first(where: isNone) else { return }
    throw PersistenceError(
      .valueUnsupported,
      "The document type \(name) has the file name extension \"\(wrong)\".",
      recovery: "Give the letters after the last dot of a name.",
      context: .init(storeType: storeType)
    )
  }
}

// MARK: StoreRegistry: document types

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
      _ = try format(for: documentType.storeType)
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

// MARK: InfoPropertyList

/// What an `Info.plist` of an Apple application says of its documents.
struct InfoPropertyList: Decodable {
  let documents: [Document]
  private let declarations: [ContentType]

  private enum CodingKeys: String, CodingKey {
    case documents = "CFBundleDocumentTypes"
    case exported = "UTExportedTypeDeclarations"
    case imported = "UTImportedTypeDeclarations"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    documents = try container.decodeIfPresent([Document].self, forKey: .documents) ?? []
    declarations =
      try (container.decodeIfPresent([ContentType].self, forKey: .exported) ?? [])
      + (container.decodeIfPresent([ContentType].self, forKey: .imported) ?? [])
  }

  /// What is said of the files of a uniform type identifier; nil where that is not declared here.
  func declaration(of contentType: String) -> ContentType? {
    declarations.first { $0.identifier.lowercased() == contentType.lowercased() }
  }
}

extension InfoPropertyList {
  /// An entry of `CFBundleDocumentTypes`.
  struct Document: Decodable {
    let name: String?
    let storeType: String?
    let fileExtensions: [String]?
    let mimeTypes: [String]?
    let contentTypes: [String]?
    let role: String?

    private enum CodingKeys: String, CodingKey {
      case name = "CFBundleTypeName"
      case storeType = "NSPersistentStoreTypeKey"
      case fileExtensions = "CFBundleTypeExtensions"
      case mimeTypes = "CFBundleTypeMIMETypes"
      case contentTypes = "LSItemContentTypes"
      case role = "CFBundleTypeRole"
    }
  }

  /// An entry of `UTExportedTypeDeclarations` or `UTImportedTypeDeclarations`.
  struct ContentType: Decodable {
    let identifier: String
    let tags: Tags?

    private enum CodingKeys: String, CodingKey {
      case identifier = "UTTypeIdentifier"
      case tags = "UTTypeTagSpecification"
    }
  }

  /// How files of a type are called.
  struct Tags: Decodable {
    let fileExtensions: Names?
    let mimeTypes: Names?

    private enum CodingKeys: String, CodingKey {
      case fileExtensions = "public.filename-extension"
      case mimeTypes = "public.mime-type"
    }
  }

  /// One name or several.
  struct Names: Decodable {
    let all: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      // try?: a list or else one string, and what is neither is thrown.
      all = try (try? container.decode([String].self)) ?? [container.decode(String.self)]
    }
  }
}
