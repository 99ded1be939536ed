import Heartwood
import HeartwoodRecordText
import HeartwoodFoundation
import HeartwoodStore

/// The output of `info`.
struct StoreReport {
  private let path: String
  private let typeDescription: StoreTypeDescription
  private let formatVersion: String?
  /// The size in bytes; nil for a store that is not a file.
  private let size: Int?
  /// Where the model was found.
  private let modelText: String
  private let metadata: StoreMetadata
  /// The number of records by entity. A number is nil if the entity's table is missing.
  private let entities: [(name: String, count: Int?)]
  /// The number of rows whose entity the file does not list.
  private let strayCount: Int
  private let history: HistorySummary?
  /// The number of transactions in a history that cannot be read.
  private let foreignTransactionCount: Int

  private struct HistorySummary {
    let transactionCount: Int
    let purgedNumber: Int64
    let lastNumber: Int64

    init(_ history: any KeptHistory) throws {
      transactionCount = try history.transactionCount
      purgedNumber = history.purgedNumber
      lastNumber = history.lastNumber
    }
  }

  init(_ opened: OpenStore) throws {
    path = opened.path
    typeDescription = opened.store.typeDescription
    formatVersion = opened.formatVersion
    size = opened.size
    modelText = opened.model.path ?? (opened.model.isInferred ? "made of the records" : "in the file")
    metadata = opened.store.metadata
    entities = try opened.store.entities.filter { !$0.isAbstract }.map { entity in
      (entity.name, try opened.store.engine.count(of: entity))
    }
    strayCount = try opened.strayCount()
    history = try opened.store.engine.history().map(HistorySummary.init)
    foreignTransactionCount = try opened.foreignTransactionCount()
  }

  /// Creates a report from the file of a store without a model. Returns nil if files of its type do not list their
  /// entities.
  init?(withoutModel source: StoreSource) throws {
    guard let format = try source.format().format as? any FileFormat, let path = source.place.path,
      let records = try format.recordCounts(ofStoreAt: path, options: .readOnly)
    else { return nil }
    let file = try StoreInput(try source.fileSystem.openFile(atPath: path))
    self.path = path
    typeDescription = format.typeDescription
    formatVersion = try source.formatVersion(format)
    size = try source.fileSystem.storeSize(at: source.place, format)
    modelText = "not found; give it with --model"
    metadata = try file.reading { try format.readMetadata(from: file, options: .readOnly) }
    (entities, strayCount) = (records.entities, records.strayCount)
    history = nil
    foreignTransactionCount = try format.foreignContents(ofStoreAt: path, options: .readOnly).transactionCount
  }
}

// MARK: For programs

extension StoreReport {
  var json: JSONValue {
    .object([
      ("type", .string(typeDescription.type.rawValue)),
      ("identifier", .string(metadata.identifier.uuidString)),
      ("formatVersion", .optional(formatVersion)),
      ("size", size.map { .integer($0) } ?? .null),
      ("entities", .array(entities.map(Self.json))),
      ("strayRows", .integer(strayCount)),
      ("history", historyJSON),
      ("foreignTransactions", .integer(foreignTransactionCount)),
      ("metadata", metadataJSON),
    ])
  }

  private static func json(_ entity: (name: String, count: Int?)) -> JSONValue {
    .object([("name", .string(entity.name)), ("count", entity.count.map { .integer($0) } ?? .null)])
  }

  private var historyJSON: JSONValue {
    guard let history else { return .null }
    return .object([
      ("transactions", .integer(history.transactionCount)),
      ("purged", .integer(history.purgedNumber)),
      ("last", .integer(history.lastNumber)),
    ])
  }

  private var metadataJSON: JSONValue {
    .object([
      ("modelVersionHashes", .sorted(metadata.modelVersionHashes.mapValues { .string($0.base64EncodedString()) })),
      ("modelVersionIdentifiers", .array(metadata.modelVersionIdentifiers.map(JSONValue.string))),
      ("userInfo", .sorted(metadata.userInfo.mapValues { JSONValue($0) })),
    ])
  }
}

// MARK: For people

extension StoreReport {
  var text: String {
    var lines = [
      ("file", path),
      ("type", "\(typeDescription.type) (\(typeDescription.displayName))"),
      ("identifier", metadata.identifier.uuidString),
      ("format version", formatVersion ?? "none"),
      ("size", size.map { Quantity.text($0, "byte") } ?? "not a file"),
      ("model", modelText),
    ]
    lines += entities.map { entity in
      ("entity \(entity.name)", entity.count.map { Quantity.text($0, "record") } ?? "its table is missing")
    }
    if strayCount > 0 { lines.append(("of no entity", Quantity.text(strayCount, "row"))) }
    lines.append(("history", historyText))
    lines += metadata.modelVersionIdentifiers.map { ("model version", $0) }
    lines += metadata.modelVersionHashes.sorted { $0.key < $1.key }.map {
      ("hash of \($0.key)", $0.value.base64EncodedString())
    }
    lines += metadata.userInfo.sorted { $0.key < $1.key }.map { ("metadata \($0.key)", JSONValue($0.value).text) }
    return LabelledLines.text(lines)
  }

  private var historyText: String {
    guard let history else {
      let count = Quantity.text(foreignTransactionCount, "transaction")
      return foreignTransactionCount == 0 ? "none" : "\(count), not read"
    }
    let parts = [
      Quantity.text(history.transactionCount, "transaction"),
      history.transactionCount > 0 ? "the last is number \(history.lastNumber)" : nil,
      history.purgedNumber > 0 ? "those up to number \(history.purgedNumber) purged" : nil,
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }
}

// MARK: TypesReport

/// The output of `types`.
struct TypesReport {
  private let descriptions: [StoreTypeDescription]

  init(_ descriptions: [StoreTypeDescription]) {
    self.descriptions = descriptions
  }

  var text: String {
    let lines = descriptions.map { description in
      [
        description.type.rawValue, Self.places(description).joined(separator: ", "),
        description.mimeTypes.joined(separator: ", "), description.capabilities.summary,
      ]
    }
    var columns = TextColumns(["TYPE", "FILES AND URLS", "MIME TYPES", "CAPABILITIES"].map { .init(title: $0) })
    columns.widen(to: lines)
    let output = GrowableBytes()
    columns.appendHeader(to: output)
    for line in lines { columns.append(line, to: output) }
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  /// Returns the file extensions and the URL schemes.
  private static func places(_ description: StoreTypeDescription) -> [String] {
    description.fileExtensions + description.urlSchemes.map { "\($0)://" }
  }

  var json: JSONValue { .array(descriptions.map(Self.json)) }

  private static func json(_ description: StoreTypeDescription) -> JSONValue {
    .object([
      ("type", .string(description.type.rawValue)),
      ("displayName", .string(description.displayName)),
      ("fileExtensions", .array(description.fileExtensions.map(JSONValue.string))),
      ("mimeTypes", .array(description.mimeTypes.map(JSONValue.string))),
      ("urlSchemes", .array(description.urlSchemes.map(JSONValue.string))),
      ("capabilities", description.capabilities.json),
    ])
  }
}

extension StoreCapabilities {
  fileprivate var json: JSONValue {
    .object([
      ("kind", .string(kind.description)),
      ("isPersistent", .boolean(supports(.persistence))),
      ("maximumEntityCount", maximumEntityCount.map { .integer($0) } ?? .null),
      ("attributeTypes", .array(attributeTypes.map(\.rawValue).sorted().map(JSONValue.string))),
      ("supportsRelationships", .boolean(supports(.relationships))),
      ("referenceKinds", .array(referenceKinds.map { .string($0.rawValue) })),
      ("supportsUserMetadata", .boolean(supports(.userMetadata))),
      ("embedsModel", .boolean(supports(.embeddedModel))),
      ("supportsHistory", .boolean(supports(.history))),
    ])
  }

  fileprivate var summary: String {
    let entities = maximumEntityCount.map { "up to \($0) entit\($0 == 1 ? "y" : "ies")" }
    let missing = AttributeType.allCases.filter { !attributeTypes.contains($0) }.map(\.rawValue)
    let words = [
      kind.description,
      supports(.persistence) ? nil : "in memory only",
      entities,
      missing.isEmpty ? nil : "no \(missing.joined(separator: ", ")) attributes",
      supports(.relationships) ? "relationships" : nil,
      supports(.userMetadata) ? "metadata" : nil,
      supports(.embeddedModel) ? "holds its model" : nil,
      supports(.history) ? "history" : nil,
    ]
    return words.compactMap(\.self).joined(separator: "; ")
  }
}
