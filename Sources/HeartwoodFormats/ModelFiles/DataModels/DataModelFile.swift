public import HeartwoodModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A model as Xcode keeps it: read from an `.xcdatamodeld` bundle or an `.xcdatamodel` folder, of Xcode 3 too, or from what the model
/// compiler makes of one, a `.momd` bundle or a `.mom` file.
public struct DataModelFile: Sendable {
  /// Something in the file that the model does not have, or has otherwise than the file spells it.
  public struct Note: Sendable, Hashable {
    /// The line, from 1; nil in a file that has no lines.
    public let line: Int?
    /// What it is and what that costs.
    public let message: String
  }

  /// The file that was read.
  public let url: URL
  /// The model.
  public let model: ManagedObjectModel
  /// What the file has and the model has not, or has otherwise, in the order of the file. It is kept where the file is written again.
  public let notes: [Note]
  /// The elements of the file, or those that it would have in the form of newer sources.
  let root: XMLElement

  /// Reads the model at `url`, which is an `.xcdatamodeld` bundle, an `.xcdatamodel` folder, a file in one, a `.momd` or a `.mom`.
  ///
  /// - Parameter version: The name of a version in a bundle, with or without `.xcdatamodel`; nil means the current one.
  /// - Throws: ``ModelFileError`` with file, line and reason.
  public init(contentsOf url: URL, version: String? = nil) throws(ModelFileError) {
    var source = try DataModelSource.read(DataModelBundle(url).location(version: version))
    let model = try source.model()
    self.init(source, model)
  }

  init(_ source: DataModelSource, _ model: ManagedObjectModel) {
    self.url = source.url
    self.model = model
    self.notes = source.notes
    self.root = source.root
  }

  /// The names of the versions in the bundle at `url`, without `.xcdatamodel`, in alphabetical order.
  ///
  /// It reads folders only. A folder of one model has one version, called as the folder is.
  public static func versions(at url: URL) throws(ModelFileError) -> [String] {
    try DataModelBundle(url).versions()
  }

  /// The name of the version that the bundle at `url` calls the current one, or its only version.
  public static func currentVersion(at url: URL) throws(ModelFileError) -> String {
    try DataModelBundle(url).currentVersion()
  }
}

extension ManagedObjectModel {
  /// Reads the model at `url`, which is an `.xcdatamodeld` bundle, an `.xcdatamodel` folder, a file in one, a `.momd` or a `.mom`.
  ///
  /// What a model has no place for is left out; ``DataModelFile/notes`` says what that is.
  ///
  /// - Parameter version: The name of a version in a bundle, with or without `.xcdatamodel`; nil means the current one.
  /// - Throws: ``ModelFileError`` with file, line and reason.
  public convenience init(contentsOf url: URL, version: String? = nil) throws(ModelFileError) {
    try self.init(DataModelSource.read(DataModelBundle(url).location(version: version)))
  }

  convenience init(_ source: DataModelSource) throws(ModelFileError) {
    var source = source
    self.init(try source.model(), localizationDictionary: [:])
  }

}
