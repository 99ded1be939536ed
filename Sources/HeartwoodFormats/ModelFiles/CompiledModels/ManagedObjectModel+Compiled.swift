package import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ManagedObjectModel {
  /// Reads a compiled model out of the file at `path`, where a store keeps the one that it was written with.
  ///
  /// - Throws: ``ModelFileError`` with the path and the reason.
  package convenience init(compiled bytes: [UInt8], path: String) throws(ModelFileError) {
    let source: DataModelSource
    do {
      source = try DataModelSource.compiled(bytes, URL(filePath: path))
    } catch let error as ArchiveError {
      throw ModelFileError(file: path, error, "The model in the store")
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(file: path, "\(error)")
    }
    try self.init(source)
  }

  /// The model as Core Data keeps it in its stores; nil where it has something that no archive of Core Data's was seen to hold, such as
  /// composite attributes.
  package func compiled() -> [UInt8]? {
    // try?: nil says that Core Data has no form for it.
    try? CompiledModelWriter.bytes(of: self)
  }
}
