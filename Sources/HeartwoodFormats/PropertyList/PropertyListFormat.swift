/// The keys of which the form consists: `Formats/PropertyList` is the specification.
enum PropertyListFormat {
  /// The version of the form.
  static let version: Int64 = 1

  static let versionKey = "heartwoodVersion"
  static let metadataKey = "metadata"
  static let modelKey = "model"
  static let recordsKey = "records"

  /// The keys of the root. A file with any other is refused, since a save would lose what stands there.
  static let rootKeys: Set<String> = [versionKey, metadataKey, modelKey, recordsKey]

  /// What a record is called. No property can have this name.
  static let referenceKey = "$id"
  /// The entity of a record that a relationship leads to, where it is not the relationship's destination itself.
  static let entityKey = "$entity"

  static let binaryMagic = Array("bplist0".utf8)
  /// What a file begins with that is written here.
  static let binaryHeader = "bplist00"
}

/// The two ways in which a property list is written.
public enum PropertyListKind: String, Sendable, Hashable, CaseIterable {
  /// Apple's binary form, `bplist00`.
  case binary
  /// XML text.
  case xml
}
