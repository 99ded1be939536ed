/// The name under which a store type is registered: `"CSV"`, `"Binary"`, or a name of your own.
///
///     extension StoreType {
///       static let jsonLines: StoreType = "JSONLines"
///     }
///
/// Two names that differ only in case are the same type.
public struct StoreType: Sendable, Hashable, RawRepresentable {
  /// The name as it was given.
  public let rawValue: String

  /// Creates a type from its name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Creates a type from its name.
  public init(_ name: String) {
    self.rawValue = name
  }

  /// Returns whether both names are equal, ignoring case.
  public static func == (left: StoreType, right: StoreType) -> Bool {
    left.rawValue.lowercased() == right.rawValue.lowercased()
  }

  /// Hashes the name, ignoring case.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rawValue.lowercased())
  }
}

extension StoreType: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Creates a type from its name.
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
  /// Records in memory, which exist as long as the store is open.
  public static let inMemory: StoreType = "InMemory"
}

// MARK: StoreTypeDescription

/// The description of a store type in the registry: its files or URLs, and what its stores can do.
public struct StoreTypeDescription: Sendable, Hashable {
  /// The name by which the type is registered.
  public var type: StoreType
  /// The name of such a file for people: "Comma-separated values".
  public var displayName: String
  /// The file name extensions, without the dot and in lower case, the preferred one first.
  public var fileExtensions: [String]
  /// The MIME types of such files, in lower case.
  public var mimeTypes: [String]
  /// The schemes of the URLs of such stores, in lower case, if they are not files: `["https"]`.
  public var urlSchemes: [String]
  /// What such a store can do.
  public var capabilities: StoreCapabilities

  /// Creates a description. Give a file name extension without the dot, a scheme without the colon, and both in lower
  /// case.
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
