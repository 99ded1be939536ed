import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds out where the store of a description is, or is to be.
struct StorePlace {
  /// What the file is called where the description does not say.
  let name: String
  /// The container's folder.
  let directory: URL
  /// Where it may lie from before, beside what the description lists.
  let formerDirectory: URL?
  let registry: StoreRegistry
  let fileSystem: any FileSystem

  /// The file; nil for a store of a type without files.
  func url(of description: PersistentStoreDescription) throws(PersistenceError) -> URL? {
    if let url = description.url { return url }
    guard let fileName = try fileName(of: description) else { return nil }
    let formerDirectories = description.formerDirectories + [formerDirectory].compactMap(\.self)
    for candidate in [directory] + formerDirectories {
      let url = candidate.appending(path: fileName)
      if try fileSystem.status(atPath: url.path) != nil { return url }
    }
    return directory.appending(path: fileName)
  }

  private func fileName(of description: PersistentStoreDescription) throws(PersistenceError) -> String? {
    let name = description.fileName ?? name
    if description.type == nil, !registry.types(forFileName: name).isEmpty { return name }
    let type = description.type ?? .binary
    let extensions = try registry.storeClass(for: type).typeDescription.fileExtensions
    guard let preferred = extensions.first else { return nil }
    return extensions.contains { name.lowercased().hasSuffix(".\($0)") } ? name : "\(name).\(preferred)"
  }
}
