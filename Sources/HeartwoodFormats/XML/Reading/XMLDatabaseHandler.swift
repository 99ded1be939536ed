import CLibXML2
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The part of a file before the records.
struct XMLHeader: Sendable {
  var identifier: UUID
  var nextObjectID: Int64?
  /// The property list of the metadata, as it is in the file.
  var metadata: [String: MetadataValue]
}

/// Reads the part of a file before the records, and stops there. A subclass continues.
class XMLDatabaseHandler: XMLStreamHandler {
  /// The position of the reader, for the parts without readers of their own.
  private enum Place {
    case document, database, info, infoValue(InfoValue), metadata, propertyList, records
  }

  private enum InfoValue {
    case version, identifier, nextObjectID
  }

  /// The names of a file's elements and attributes, the most frequent first.
  enum Word: UInt8, CaseIterable {
    case attribute, name, type, relationship, destination, idrefs, object, id
    case database, databaseInfo, version, identifier, nextObjectID, metadata, plist

    var text: String {
      switch self {
      case .identifier: "UUID"
      default: "\(self)"
      }
    }
  }

  private(set) var header: XMLHeader?
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  @exclusivity(unchecked) private var place = Place.document
  @exclusivity(unchecked) private var names: XMLNames?
  /// ``names``, without counting references.
  @exclusivity(unchecked) private var unsafeNames: Unmanaged<XMLNames>?
  private var list = PropertyListElements()
  private var identifier: UUID?
  private var nextObjectID: Int64?
  private var metadata: [String: MetadataValue] = [:]

  override func prepare(_ context: xmlParserCtxtPtr) {
    super.prepare(context)
    let names = XMLNames(Word.allCases.map(\.text), context)
    self.names = names
    unsafeNames = Unmanaged.passUnretained(names)
    list.prepare(context)
  }

  @inline(__always)
  final func word(_ name: XMLTag.Name) -> Word? {
    guard let unsafeNames else { return nil }
    return unsafeNames._withUnsafeGuaranteedRef { $0.index(of: name) }.flatMap { Word(rawValue: UInt8($0)) }
  }

  // MARK: For subclasses

  /// Called for an element in the database after its information.
  func beginRecord(_ tag: XMLTag, _ word: Word?) {
    stop()
  }

  func endRecord() {}

  /// Called when the information has been read.
  func endHeader(_ header: XMLHeader) {
    stop()
  }

  // MARK: Elements

  final override func begin(_ tag: XMLTag) {
    if case .propertyList = place { return note(list.begin(tag, self)) }
    let word = tag.hasPrefix ? nil : word(tag.name)
    if case .records = place { return beginRecord(tag, word) }
    switch (place, word) {
    case (.document, .database): place = .database
    case (.database, .databaseInfo) where header == nil: place = .info
    case (.database, .object): fail("The records begin before the element databaseInfo, which must come first.")
    case (.info, .version): beginValue(.version)
    case (.info, .identifier): beginValue(.identifier)
    case (.info, .nextObjectID): beginValue(.nextObjectID)
    case (.info, .metadata): place = .metadata
    case (.metadata, .plist): place = .propertyList
    case (.document, _): fail("The file is not an XML store: its first element is not database.")
    default: fail("The element \(String(cString: tag.name)) does not belong here.")
    }
  }

  private func beginValue(_ value: InfoValue) {
    place = .infoValue(value)
    collectText()
  }

  final override func end() {
    switch place {
    case .records:
      if depth == 0 { return }
      endRecord()
    case .propertyList:
      if depth > Self.propertyListDepth { return note(list.end(textBytes)) }
      place = .metadata
      takeMetadata()
    case .metadata: place = .info
    case .infoValue(let value):
      take(value)
      place = .info
    case .info: finishHeader()
    case .database, .document: fail("The element databaseInfo is missing.")
    }
  }

  /// The depth of the element plist.
  private static let propertyListDepth = 3

  private func note(_ fault: String?) {
    if let fault { fail(fault) }
  }

  private func take(_ value: InfoValue) {
    let trimmed = String(decoding: textBytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined()
    switch value {
    case .version:
      guard trimmed == XMLFormat.version else {
        return fail(
          "The file is of version \(trimmed.prefix(32)) of the form; \(XMLFormat.version) is known.",
          code: .fileFormatUnsupported
        )
      }
    case .identifier:
      identifier = UUID(uuidString: trimmed)
      if identifier == nil { fail("The element UUID must hold a UUID.") }
    case .nextObjectID:
      nextObjectID = Int64(trimmed)
      if nextObjectID == nil { fail("The element nextObjectID must hold a number.") }
    }
  }

  private func takeMetadata() {
    guard case .dictionary(let members) = list.root else { return fail("The metadata must be a dictionary.") }
    metadata = members
  }

  private func finishHeader() {
    guard let identifier else { return fail("The element UUID is missing.") }
    let header = XMLHeader(identifier: identifier, nextObjectID: nextObjectID, metadata: metadata)
    self.header = header
    place = .records
    endHeader(header)
  }

  /// Reads the part of `file` before the records.
  static func header(of file: StoreInput, options: StoreOptions) throws(PersistenceError) -> XMLHeader {
    let handler = XMLDatabaseHandler(storeType: .xml, limits: XMLLimits(options))
    try XMLStreamParser(file: file).parse(handler)
    if let header = handler.header { return header }
    throw PersistenceError(
      .fileMalformed,
      "The file is not an XML store: it has no element databaseInfo.",
      context: .init(path: file.path, storeType: .xml)
    )
  }
}
