import Foundation
import Heartwood

/// The store's own file: who the store is, and which file each record is in.
struct RecordIndex: Codable {
  /// Where a record is.
  struct Entry: Codable {
    /// The name of its file.
    let file: String
    /// Tells which of two records was inserted before the other.
    let place: Int
  }

  var metadata: StoreMetadata
  /// Another one after each save.
  var mark: UInt64 = 0
  private var nextPlace = 0
  /// By the name of the entity, and by what the record is called.
  private var entries: [String: [String: Entry]] = [:]

  init(metadata: StoreMetadata) {
    self.metadata = metadata
  }

  init(json: Data, path: String) throws {
    do {
      self = try JSONDecoder().decode(Self.self, from: json)
    } catch {
      throw PersistenceError(
        .fileMalformed,
        "The file is no table of records in JSON.",
        recovery: .restoreCopy,
        context: .init(path: path),
        underlyingError: error
      )
    }
  }

  func records(of entity: EntityDescription) -> [String: Entry] { entries[entity.name] ?? [:] }

  /// The names of all files.
  var files: Set<String> { Set(entries.values.flatMap { $0.values.map(\.file) }) }

  /// Lets a record be in `file`, and tells where it was before.
  mutating func set(_ file: String, _ id: ManagedObjectID) -> String? {
    let former = entries[id.entity.name]?[id.reference.text]
    if former == nil { nextPlace += 1 }
    entries[id.entity.name, default: [:]][id.reference.text] = Entry(file: file, place: former?.place ?? nextPlace)
    return former?.file
  }

  /// Forgets a record, and tells where it was.
  mutating func remove(_ id: ManagedObjectID) -> String? {
    entries[id.entity.name]?.removeValue(forKey: id.reference.text)?.file
  }
}
