import HeartwoodFormats
public import HeartwoodModel
public import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension ManagedObjectModel {
  /// Reads the model called `name` from the resources of the program, or from some bundles or folders.
  ///
  /// It is an `.momd`, `.xcdatamodeld`, `.mom`, `.xcdatamodel` or `.json` (`Formats/Model`), in this order. Of a bundle its resources are
  /// looked through: give `Bundle.module.bundleURL` for those of a package's target.
  ///
  /// - Parameters:
  ///   - name: the name of the model, without an extension.
  ///   - folders: where to look; the first that has the model is taken. Nil means beside the executable, and in the bundles of
  ///     resources there, of which one must have the model.
  /// - Throws: ``PersistenceError/Code/modelMissing``, which lists where was looked, or what is wrong with the file.
  public convenience init(named name: String, in folders: [URL]? = nil) throws(PersistenceError) {
    try self.init(resourceAt: try ModelSearch(name: name, folders: folders).url())
  }

  convenience init(resourceAt url: URL) throws(PersistenceError) {
    do {
      if url.pathExtension == ModelSearch.ownExtension {
        try self.init(encoded: Data(contentsOf: url))
      } else {
        try self.init(contentsOf: url)
      }
    } catch {
      throw .of(error, .modelMissing, "The model cannot be read.", context: .init(path: url.path))
    }
  }
}
