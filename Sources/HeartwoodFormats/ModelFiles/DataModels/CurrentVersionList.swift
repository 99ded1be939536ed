#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The property list that says which version of a model is the current one: of a bundle of sources, or of a compiled one.
struct CurrentVersionList {
  private static let keys = ["_XCCurrentVersionName", "NSManagedObjectModel_CurrentVersionName"]

  /// The name of the current version, or nil where the list names none.
  let versionName: String?

  init(_ url: URL) throws(ModelFileError) {
    let bytes = try DataModelBundle.bytes(of: url)
    let list: ArchiveValue
    do {
      list = try ArchiveReader.value(of: bytes)
    } catch {
      throw ModelFileError(file: url.path, error, "The list of versions")
    }
    guard case .dictionary(let members) = list else {
      throw ModelFileError(file: url.path, "This is no property list with a dictionary in it.")
    }
    guard let value = Self.keys.compactMap({ members[$0] }).first else {
      versionName = nil
      return
    }
    guard case .string(let name) = value else {
      throw ModelFileError(file: url.path, "The name of the current version is no string.")
    }
    versionName = name
  }
}
