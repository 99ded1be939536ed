/// What the registry tells about a kind of store: how its files are named and what it can do.
public struct StoreTypeDescription: Sendable, Hashable {
  /// The name by which the type is registered.
  public var type: StoreType
  /// What a person calls such a file: "Comma-separated values".
  public var displayName: String
  /// The file name extensions, without the dot and in lower case, the preferred one first.
  public var fileExtensions: [String]
  /// The MIME types of such files, in lower case.
  public var mimeTypes: [String]
  /// What such a store can do.
  public var capabilities: StoreCapabilities

  /// Makes a description; a file name extension is given without the dot and in lower case.
  public init(
    type: StoreType,
    displayName: String,
    fileExtensions: [String],
    mimeTypes: [String] = [],
    capabilities: StoreCapabilities
  ) {
    self.type = type
    self.displayName = displayName
    self.fileExtensions = fileExtensions
    self.mimeTypes = mimeTypes
    self.capabilities = capabilities
  }
}
