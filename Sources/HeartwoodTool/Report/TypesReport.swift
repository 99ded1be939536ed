import Heartwood
import HeartwoodFormats
import HeartwoodStore

/// What `types` tells about the kinds of stores that are registered.
struct TypesReport {
  private let descriptions: [StoreTypeDescription]

  init(_ descriptions: [StoreTypeDescription]) {
    self.descriptions = descriptions
  }

  var text: String {
    let lines = descriptions.map { description in
      [
        description.type.rawValue, description.fileExtensions.joined(separator: ", "),
        description.mimeTypes.joined(separator: ", "), description.capabilities.summary,
      ]
    }
    var columns = TextColumns(["TYPE", "EXTENSIONS", "MIME TYPES", "CAPABILITIES"].map { .init(title: $0) })
    columns.widen(to: lines)
    let output = GrowableBytes()
    columns.appendHeader(to: output)
    for line in lines { columns.append(line, to: output) }
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  var json: JSONValue { .array(descriptions.map(Self.json)) }

  private static func json(_ description: StoreTypeDescription) -> JSONValue {
    .object([
      ("type", .string(description.type.rawValue)),
      ("displayName", .string(description.displayName)),
      ("fileExtensions", .array(description.fileExtensions.map(JSONValue.string))),
      ("mimeTypes", .array(description.mimeTypes.map(JSONValue.string))),
      ("capabilities", description.capabilities.json),
    ])
  }
}

extension StoreCapabilities {
  fileprivate var json: JSONValue {
    .object([
      ("kind", .string(kind.rawValue)),
      ("isPersistent", .boolean(isPersistent)),
      ("maximumEntityCount", maximumEntityCount.map { .integer($0) } ?? .null),
      ("attributeTypes", .array(attributeTypes.map(\.rawValue).sorted().map(JSONValue.string))),
      ("supportsRelationships", .boolean(supportsRelationships)),
      ("referenceKinds", .array(referenceKinds.map { .string($0.rawValue) })),
      ("supportsUserMetadata", .boolean(supportsUserMetadata)),
      ("embedsModel", .boolean(embedsModel)),
      ("supportsHistory", .boolean(supportsHistory)),
    ])
  }

  fileprivate var summary: String {
    let entities = maximumEntityCount.map { "up to \($0) entit\($0 == 1 ? "y" : "ies")" }
    let missing = AttributeType.allCases.filter { !attributeTypes.contains($0) }.map(\.rawValue)
    let words = [
      kind.rawValue,
      isPersistent ? nil : "in memory only",
      entities,
      missing.isEmpty ? nil : "no \(missing.joined(separator: ", ")) attributes",
      supportsRelationships ? "relationships" : nil,
      supportsUserMetadata ? "metadata" : nil,
      embedsModel ? "holds its model" : nil,
      supportsHistory ? "history" : nil,
    ]
    return words.compactMap(\.self).joined(separator: "; ")
  }
}
