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
