@_spi(CoreDataFiles) import HeartwoodFormats
public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

/// A model file of Xcode: an `.xcdatamodeld` bundle, an `.xcdatamodel` folder, also of Xcode 3, or the output of the
/// model compiler, a `.momd` bundle or a `.mom` file.
///
///     let file = try DataModelFile(contentsOf: URL(filePath: "ToDo.xcdatamodeld"))
///     for note in file.notes { print(note.message) }
///     let coordinator = try PersistentStoreCoordinator(managedObjectModel: file.model)
///
/// If you need only the model, use `ManagedObjectModel(contentsOf:version:)`.
public struct DataModelFile: Sendable {
  /// Something in the file that the model does not represent, or represents differently.
  public struct Note: Sendable, Hashable {
    /// The line, counted from 1; nil if the file does not have lines.
    public let line: Int?
    /// What it is, and what follows from it.
    public let message: String
  }

  /// The file that was read.
  public let url: URL
  /// The model.
  public let model: ManagedObjectModel
  /// What the model does not represent, or represents differently, in the order of the file. It is preserved when the
  /// file is written again.
  public let notes: [Note]
  /// The elements of the file. Older and compiled files are converted to the elements of newer sources.
  let root: XMLElement

  /// Reads a model file: an `.xcdatamodeld` bundle, an `.xcdatamodel` folder, a file in one, a `.momd` bundle or a
  /// `.mom` file.
  ///
  /// - Parameters:
  ///   - url: the file or folder.
  ///   - version: the name of a version in a bundle, with or without `.xcdatamodel`; nil for the current one.
  /// - Throws: ``ModelFileError``, with the lines of all problems.
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

  /// Returns the names of the versions in a bundle, without `.xcdatamodel`, in alphabetical order.
  ///
  /// It only lists folders. A folder with a single model has one version with the name of the folder.
  ///
  /// - Throws: ``ModelFileError`` if there is no model at `url`.
  public static func versions(at url: URL) throws(ModelFileError) -> [String] {
    try DataModelBundle(url).versions()
  }

  /// Returns the name of the bundle's current version, or of its only version.
  ///
  /// - Throws: ``ModelFileError`` if there is no model at `url`, or if there are several versions and none is the
  ///   current one.
  public static func currentVersion(at url: URL) throws(ModelFileError) -> String {
    try DataModelBundle(url).currentVersion()
  }
}

extension ManagedObjectModel {
  /// Reads a model file: an `.xcdatamodeld` bundle, an `.xcdatamodel` folder, a file in one, a `.momd` bundle or a
  /// `.mom` file.
  ///
  ///     let model = try ManagedObjectModel(contentsOf: URL(filePath: "ToDo.xcdatamodeld"))
  ///
  /// What a model cannot represent is left out; ``DataModelFile/notes`` lists it.
  ///
  /// - Parameters:
  ///   - url: the file or folder.
  ///   - version: the name of a version in a bundle, with or without `.xcdatamodel`; nil for the current one.
  /// - Throws: ``ModelFileError``, with the lines of all problems.
  public convenience init(contentsOf url: URL, version: String? = nil) throws(ModelFileError) {
    try self.init(DataModelSource.read(DataModelBundle(url).location(version: version)))
  }

  convenience init(_ source: DataModelSource) throws(ModelFileError) {
    var source = source
    self.init(try source.model(), localizationDictionary: [:])
  }

}

// MARK: Versions

extension DataModelFile {
  /// Returns the version of a bundle with which a store was written. The current version is checked first.
  ///
  /// - Parameters:
  ///   - url: the bundle.
  ///   - metadata: the metadata of the store.
  ///   - configuration: the configuration with which the store was opened; nil for all entities.
  /// - Returns: the name of the version, or nil if the version hashes in the metadata match no version.
  /// - Throws: ``ModelFileError`` if a version cannot be read.
  public static func version(
    at url: URL,
    compatibleWith metadata: StoreMetadata,
    configuration: String? = nil
  ) throws(ModelFileError) -> String? {
    let bundle = DataModelBundle(url)
    // try?: it only decides which version is checked first.
    let current = try? bundle.currentVersion()
    for name in try bundle.versions().sorted(by: { ($0 == current ? 0 : 1, $0) < ($1 == current ? 0 : 1, $1) }) {
      let model = try ManagedObjectModel(contentsOf: url, version: name)
      if model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) { return name }
    }
    return nil
  }
}

// MARK: Writing

extension DataModelFile {
  /// The name of the XML file in a model's folder.
  fileprivate static let contentsName = "contents"

  /// Returns the XML of a `contents` file, including what the model cannot represent, such as the positions of the
  /// entities in the editor.
  ///
  /// - Throws: ``ModelFileError`` if a text contains a control character, which XML cannot represent.
  public func contents() throws(ModelFileError) -> Data {
    Data(try XMLTreeWriter.text(root, of: Self.contentsName).utf8)
  }

  /// Returns the XML for `model`, a changed version of the file's model. Everything that has not changed is preserved,
  /// including what models cannot represent. If the type of an attribute has changed, default values and rules that
  /// were left over from the old type are removed.
  ///
  /// - Throws: ``ModelFileError`` if a text contains a control character, which XML cannot represent.
  public func contents(of model: ManagedObjectModel) throws(ModelFileError) -> Data {
    let (old, new) = (DataModelWriter.root(of: self.model), DataModelWriter.root(of: model))
    let restated = root.restated(like: old, before: new)
    return Data(try XMLTreeWriter.text(restated.applying(changesFrom: old, to: new), of: Self.contentsName).utf8)
  }
}

extension ManagedObjectModel {
  /// Returns the model as the XML of a new `contents` file.
  ///
  /// Such files cannot represent validation predicates, binary default values and more than one version identifier.
  /// These are left out.
  ///
  /// - Throws: ``ModelFileError`` if a text contains a control character, which XML cannot represent.
  public func dataModelContents() throws(ModelFileError) -> Data {
    Data(try XMLTreeWriter.text(DataModelWriter.root(of: self), of: DataModelFile.contentsName).utf8)
  }
}

// MARK: Generation

extension DataModelFile {
  /// The attributes, as `Entity.attribute`, for which the file requests scalar types in generated code, so that they
  /// are never nil there. The parts of a composite attribute have the names of the entity's attributes, such as
  /// `home_zip`.
  public var scalarAttributes: Set<String> {
    let composites = Dictionary(
      root.children.filter { $0.name == "composite" }.map { ($0.attributes["name"] ?? "", $0.children) },
      uniquingKeysWith: { first, _ in first }
    )
    var names: Set<String> = []
    for entity in root.children where entity.name == "entity" {
      guard let owner = entity.attributes["name"] else { continue }
      for attribute in entity.children {
        names.formUnion(Self.scalars(attribute, behind: owner + ".", composites))
      }
    }
    return names
  }

  /// Returns the names of an element's scalar attributes: its own, or those of its parts. Reading the file has ensured
  /// that no composite contains itself.
  private static func scalars(
    _ attribute: XMLElement,
    behind prefix: String,
    _ composites: [String: [XMLElement]]
  ) -> [String] {
    guard let name = attribute.attributes["name"] else { return [] }
    if attribute.attributes["attributeType"] == "Composite", let type = attribute.attributes["composite"] {
      return (composites[type] ?? []).flatMap { scalars($0, behind: prefix + name + "_", composites) }
    }
    return attribute.attributes["usesScalarValueType"] == "YES" ? [prefix + name] : []
  }
}
