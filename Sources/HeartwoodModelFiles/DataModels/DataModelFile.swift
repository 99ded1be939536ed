import HeartwoodFormats
public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

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

// MARK: Versions

extension DataModelFile {
  /// The version of the bundle at `url` that a store with this metadata was written with; the current version is tried first.
  ///
  /// - Parameter configuration: The configuration that the store was opened with; nil means all entities.
  /// - Returns: The name of the version, or nil where none has the version hashes that the metadata tell.
  /// - Throws: ``ModelFileError`` where a version cannot be read.
  public static func version(
    at url: URL,
    compatibleWith metadata: StoreMetadata,
    configuration: String? = nil
  ) throws(ModelFileError) -> String? {
    let bundle = DataModelBundle(url)
    // try?: it only decides which version is looked at first.
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
  /// What files of XML are called in the folder of a model.
  fileprivate static let contentsName = "contents"

  /// The model as the XML of a `contents` file: what was read, also what the model has no place for, such as where the editor draws
  /// the entities.
  ///
  /// - Throws: ``ModelFileError`` where a text has a control character, for which XML has no form; so do the other functions that make XML.
  public func contents() throws(ModelFileError) -> Data {
    Data(try XMLTreeWriter.text(root, of: Self.contentsName).utf8)
  }

  /// The XML of `model`, a changed version of the file's: where the two are the same, what the file says stays as it is, also what
  /// models have no place for. Where an attribute has another type, no default and no rule stays that was left over in the file.
  public func contents(of model: ManagedObjectModel) throws(ModelFileError) -> Data {
    let (old, new) = (DataModelWriter.root(of: self.model), DataModelWriter.root(of: model))
    let restated = root.restated(like: old, before: new)
    return Data(try XMLTreeWriter.text(restated.applying(changesFrom: old, to: new), of: Self.contentsName).utf8)
  }
}

extension ManagedObjectModel {
  /// The model as the XML of a `contents` file, as for one that Xcode has not seen yet.
  ///
  /// Such files have no place for validation predicates, for default values that are bytes, nor for more than one version identifier.
  ///
  /// - Throws: ``ModelFileError`` where a text has a control character, for which XML has no form.
  public func dataModelContents() throws(ModelFileError) -> Data {
    Data(try XMLTreeWriter.text(DataModelWriter.root(of: self), of: DataModelFile.contentsName).utf8)
  }
}

// MARK: Generation

extension DataModelFile {
  /// The attributes, as `Entity.attribute`, for which the file asks for a scalar in generated code: they are never nil there. Those that a
  /// composite attribute is made of are called as in the entity, `home_zip`.
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

  /// The names of an element's scalars: its own, or those of its parts. That parts do not go in a circle was found when the file was read.
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
