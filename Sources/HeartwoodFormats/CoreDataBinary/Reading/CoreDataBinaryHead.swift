import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The parts of a file other than its records.
struct CoreDataBinaryHead {
  let header: CoreDataBinaryHeader
  let identifier: UUID
  /// The values of the metadata that property lists can hold.
  let members: [String: MetadataValue]
  /// The other values, each as an archive of its own.
  let foreignMembers: [String: Data]

  private static let leastAllowance = 64 << 20
  private static let expansion = 8

  /// - Throws: ``PersistenceError/Code/fileMalformed``, ``PersistenceError/Code/fileFormatUnsupported``.
  init(_ file: StoreInput) throws(PersistenceError) {
    try self.init(file, try file.file.mapped().region)
  }

  init(_ file: StoreInput, _ region: ByteRegion) throws(PersistenceError) {
    header = try CoreDataBinaryHeader(file)
    let start = header.metadata.lowerBound
    do throws(PropertyListFault) {
      let archive = try ArchivedObjects(region, in: header.metadata)
      (members, foreignMembers) = try Self.members(of: archive)
    } catch {
      throw Self.malformed("\(error.reason)", at: start + error.offset, file.path)
    }
    guard case .string(let text)? = members[CoreDataBinaryWords.identifier], let identifier = UUID(uuidString: text)
    else {
      throw Self.malformed("The metadata has no identifier that is a UUID.", at: start, file.path)
    }
    self.identifier = identifier
  }

  static func members(
    of archive: ArchivedObjects
  ) throws(PropertyListFault) -> (known: [String: MetadataValue], foreign: [String: Data]) {
    guard let root = try archive.root(CoreDataBinaryWords.metadata), let (keys, values) = try archive.pairs(root) else {
      throw PropertyListFault(offset: 0, reason: "The archive of the metadata has no dictionary called metadata.")
    }
    let allowance = RecordAllowance(max(leastAllowance, archive.list.slice.count * expansion))
    var (known, foreign): ([String: MetadataValue], [String: Data]) = ([:], [:])
    for index in 0..<keys.count {
      let object = try archive.target(values[index])
      guard let key = try archive.text(try archive.target(keys[index])) else {
        throw PropertyListFault(offset: try archive.list.offset(object), reason: "A key of the metadata is not text.")
      }
      if let value = try archive.metadataValue(object, allowance) {
        known[key] = value
      } else {
        foreign[key] = Data(try archive.archive(of: object, allowance))
      }
    }
    return (known, foreign)
  }

  var metadata: StoreMetadata {
    CoreDataMetadata.metadata(members, identifier: identifier, storeType: .coreDataBinary)
  }

  /// Whether the order of the records in the file has no meaning: Core Data writes them in the order of a hash table.
  var hasUnorderedRecords: Bool { !CoreDataMetadata.holdsModel(members) }

  /// The form that a save keeps, without the parts that follow from the records.
  var form: CoreDataBinaryForm {
    CoreDataBinaryForm(header: header, metadata: CoreDataMetadata.Form(members), foreignMetadata: foreignMembers)
  }

  static func malformed(_ problem: String, at offset: Int, _ path: String) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      problem,
      context: .init(path: path, byteOffset: offset, storeType: .coreDataBinary)
    )
  }
}
