/// The name by which a kind of store is registered: `"CSV"`, `"Binary"`, or a name of your own.
///
/// Two names that differ in case only are the same type.
public struct StoreType: Sendable, Hashable, RawRepresentable {
  /// The name as it was given.
  public let rawValue: String

  /// Makes a type of its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a type of its name.
  public init(_ name: String) {
    self.rawValue = name
  }

  /// Whether both names are the same but for case.
  public static func == (left: StoreType, right: StoreType) -> Bool {
    left.rawValue.lowercased() == right.rawValue.lowercased()
  }

  /// Hashes the name without regard to case.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rawValue.lowercased())
  }
}

extension StoreType: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Makes a type of its name.
  public init(stringLiteral value: String) {
    self.rawValue = value
  }

  /// The name as it was given.
  public var description: String { rawValue }
}

extension StoreType {
  /// Heartwood's own columnar file: `Formats/Binary`.
  public static let binary: StoreType = "Binary"
  /// Text with a line for each record: `Formats/CSV`.
  public static let csv: StoreType = "CSV"
  /// Core Data's XML: `Formats/XML`.
  public static let xml: StoreType = "XML"
  /// A property list, binary or XML: `Formats/PropertyList`.
  public static let propertyList: StoreType = "PropertyList"
  /// Core Data's binary store, `NSBinaryStoreType`: `Formats/CoreDataBinary`.
  public static let coreDataBinary: StoreType = "CoreDataBinary"
  /// Records that live as long as the store is open.
  public static let inMemory: StoreType = "InMemory"
}

// MARK: StoreTypeDescription

/// What the registry tells about a kind of store: where such stores are and what they can do.
public struct StoreTypeDescription: Sendable, Hashable {
  /// The name by which the type is registered.
  public var type: StoreType
  /// What a person calls such a file: "Comma-separated values".
  public var displayName: String
  /// The file name extensions, without the dot and in lower case, the preferred one first.
  public var fileExtensions: [String]
  /// The MIME types of such files, in lower case.
  public var mimeTypes: [String]
  /// The schemes of the URLs at which such stores are, in lower case, if they are not files: `["https"]`.
  public var urlSchemes: [String]
  /// What such a store can do.
  public var capabilities: StoreCapabilities

  /// Makes a description; a file name extension is given without the dot, a scheme without the colon, and both in lower case.
  public init(
    type: StoreType,
    displayName: String,
    fileExtensions: [String] = [],
    mimeTypes: [String] = [],
    urlSchemes: [String] = [],
    capabilities: StoreCapabilities
  ) {
    self.type = type
    self.displayName = displayName
    self.fileExtensions = fileExtensions
    self.mimeTypes = mimeTypes
    self.urlSchemes = urlSchemes
    self.capabilities = capabilities
  }
}
