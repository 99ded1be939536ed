public import HeartwoodFoundation

/// A document type of an application: the names of its files, and the type of store that keeps them.
///
/// Every registered store type is also a document type. An application declares others in a ``StoreRegistry``, in code
/// or in its `Info.plist`, so that a file called `groceries.todo` is opened as a CSV store, for example:
///
///     try registry.declare([DocumentType(name: "To-do list", storeType: .csv, fileExtensions: ["todo"])])
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

  /// The name of such a document for people.
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

  /// Creates a document type. Give file name extensions without the dot.
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

  /// Creates the document type of a registered store type.
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
  /// Returns whether a file with the extension, in lower case, may be such a document.
  func hasExtension(_ fileExtension: String) -> Bool { fileExtensions.contains(fileExtension) }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if a file name extension is not valid.
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
  /// The known document types: first those that were declared, in that order, and then one for each registered store
  /// type whose files have extensions or MIME types.
  public var documentTypes: [DocumentType] {
    let named = typeDescriptions.filter { !$0.fileExtensions.isEmpty || !$0.mimeTypes.isEmpty }
    return declaredDocumentTypes + named.map(DocumentType.init)
  }

  /// Returns the document types whose files have the same file name extension as `path`, declared ones first.
  public func documentTypes(forFileName path: String) -> [DocumentType] {
    let fileExtension = PathParts.fileExtension(path)
    return documentTypes.filter { $0.hasExtension(fileExtension) }
  }

  /// Adds document types to the known ones. Declared types take precedence over those of the store types.
  ///
  /// - Throws: ``PersistenceError/Code/storeTypeUnknown`` if the store type of one is not registered,
  ///   ``PersistenceError/Code/valueUnsupported`` if a file name extension is not valid. No type is added then.
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
  /// Returns the document types that the `Info.plist` of an Apple application declares for stores: those of its
  /// `CFBundleDocumentTypes` that have an `NSPersistentStoreTypeKey`. Pass them to ``declare(_:)``.
  ///
  /// File name extensions and MIME types are those of the entry, or of its `LSItemContentTypes` if the file declares
  /// these as well, or else those of the store type. Entries without `NSPersistentStoreTypeKey` are left out.
  ///
  /// - Parameter data: a property list in any form.
  /// - Throws: ``PersistenceError/Code/fileMalformed`` if the data is not a property list, or if a value has the wrong
  ///   type; ``PersistenceError/Code/storeTypeUnknown``; ``PersistenceError/Code/valueUnsupported`` if a role or a file
  ///   name extension is not valid.
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

  /// Returns the document types that the `Info.plist` at `url` declares: see ``documentTypes(fromInfoPlist:)``.
  ///
  /// - Throws: the same errors, and those of reading the file.
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
      "\(place(context.codingPath)) has the wrong type: \(context.debugDescription)"
    case .keyNotFound(let key, let context): "\(place(context.codingPath)) has no \(key.stringValue)."
    case .dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "It is not a property list." : "\(place(context.codingPath)) is wrong: \(context.debugDescription)"
    default: "It is not a property list."
    }
  }

  /// Returns the path of a value in the property list: `CFBundleDocumentTypes[0].CFBundleTypeExtensions`.
  private static func place(_ path: [any CodingKey]) -> String {
    let place = path.reduce(into: "") { text, key in
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
    return place.isEmpty ? "The property list" : place
  }
}

// MARK: InfoPropertyList

/// The document types in the `Info.plist` of an Apple application.
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

  /// Returns the declaration of a uniform type identifier; nil if it is not declared here.
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

  /// The names of files of a type.
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
      // try?: the value is a list or one string; if it is neither, decoding the string throws.
      all = try (try? container.decode([String].self)) ?? [container.decode(String.self)]
    }
  }
}
