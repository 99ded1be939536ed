@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodStore

/// The place and the form of one model.
struct DataModelLocation {
  enum Form {
    /// The XML of Xcode 4 and newer.
    case contents
    /// The diagram of Xcode 3.
    case elements
    /// The output of the model compiler.
    case compiled
  }

  let url: URL
  let form: Form
}

/// The folder of a model or of several versions of a model, in the layout of Xcode or its model compiler.
struct DataModelBundle {
  private static let sourceSuffix = ".xcdatamodel"
  private static let compiledSuffix = ".mom"
  private static let optimizedSuffix = ".omo"
  private static let contentsName = "contents"
  private static let elementsName = "elements"
  private static let currentVersionName = ".xccurrentversion"
  private static let versionInfoName = "VersionInfo.plist"

  private let url: URL

  init(_ url: URL) {
    self.url = url
  }

  /// Returns the place of `version`; nil for the current one.
  func location(version: String?) throws(ModelFileError) -> DataModelLocation {
    let shape = try shape()
    let name: String
    if let version { name = Self.withoutSuffix(version) } else { name = try currentVersion(in: shape) }
    guard shape.versions.contains(name) else {
      throw error("There is no version “\(name)”. There are: \(shape.versions.joined(separator: ", ")).")
    }
    switch shape.kind {
    case .model(let location): return location
    case .sources: return try DataModelBundle(url.appending(path: name + Self.sourceSuffix)).location(version: nil)
    case .compiled: return DataModelLocation(url: url.appending(path: name + Self.compiledSuffix), form: .compiled)
    }
  }

  func versions() throws(ModelFileError) -> [String] {
    try shape().versions
  }

  func currentVersion() throws(ModelFileError) -> String {
    try currentVersion(in: shape())
  }
}

extension DataModelBundle {
  /// What the URL refers to.
  private struct Shape {
    enum Kind {
      case model(DataModelLocation)
      case sources
      case compiled
    }
    let kind: Kind
    let versions: [String]
  }

  private func shape() throws(ModelFileError) -> Shape {
    guard url.isFileURL else { throw error("This is not a URL of a file. Give a path.") }
    var isFolder = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw error("There is no such file or folder.")
    }
    return isFolder ? try folderShape(names()) : try fileShape()
  }

  private func fileShape() throws(ModelFileError) -> Shape {
    // For a pipe, Foundation reports missing permissions.
    // try?: without a status, the file is opened, which throws.
    guard (try? POSIXFileSystem().status(atPath: url.path))?.isRegularFile ?? true else {
      throw error("This is neither a file nor a folder. Write the model to a file, and give that.")
    }
    let name = url.lastPathComponent
    if name.hasSuffix(Self.optimizedSuffix) {
      throw error("This is an optimized compiled model, which cannot be read. Give the .mom beside it.")
    }
    if name.hasSuffix(Self.compiledSuffix) { return model(url, .compiled, called: name) }
    let form = name == Self.elementsName ? DataModelLocation.Form.elements : .contents
    return model(url, form, called: url.deletingLastPathComponent().lastPathComponent)
  }

  private func folderShape(_ names: [String]) throws(ModelFileError) -> Shape {
    let own = url.lastPathComponent
    if names.contains(Self.contentsName) {
      return model(url.appending(path: Self.contentsName), .contents, called: own)
    }
    let sources = versions(in: names, Self.sourceSuffix)
    if !sources.isEmpty { return Shape(kind: .sources, versions: sources) }
    let compiled = versions(in: names, Self.compiledSuffix)
    if !compiled.isEmpty { return Shape(kind: .compiled, versions: compiled) }
    if names.contains(Self.elementsName) {
      return model(url.appending(path: Self.elementsName), .elements, called: own)
    }
    throw error("There is no model here: neither a file “\(Self.contentsName)” nor a folder “*\(Self.sourceSuffix)”.")
  }

  private func model(_ url: URL, _ form: DataModelLocation.Form, called name: String) -> Shape {
    Shape(kind: .model(DataModelLocation(url: url, form: form)), versions: [Self.withoutSuffix(name)])
  }

  private func versions(in names: [String], _ suffix: String) -> [String] {
    names.filter { $0.hasSuffix(suffix) }.map(Self.withoutSuffix).sorted()
  }

  private func currentVersion(in shape: Shape) throws(ModelFileError) -> String {
    if let (name, list) = try namedCurrentVersion(in: shape) {
      guard shape.versions.contains(name) else {
        throw error("\(list) names the version “\(name)”, which does not exist. Add it, or name another.")
      }
      return name
    }
    guard let only = shape.versions.first, shape.versions.count == 1 else {
      let versions = shape.versions.joined(separator: ", ")
      throw error("\(Self.currentVersionName) names no version. Say which one to read: \(versions).")
    }
    return only
  }

  /// Returns the version that the bundle's property list names, and the name of the list; nil if there is no list or it
  /// names no version.
  private func namedCurrentVersion(in shape: Shape) throws(ModelFileError) -> (name: String, list: String)? {
    let list: String
    switch shape.kind {
    case .model: return nil
    case .sources: list = Self.currentVersionName
    case .compiled: list = Self.versionInfoName
    }
    let file = url.appending(path: list)
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    // If there is one version, the list is not needed. It may name a version that has been removed, and other tools
    // write it in other forms.
    if shape.versions.count == 1 { return nil }
    return try CurrentVersionList(file).versionName.map { (Self.withoutSuffix($0), list) }
  }

  private func names() throws(ModelFileError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw self.error("The folder cannot be read. Check its permissions. (\(SystemReason.text(of: error)))")
    }
  }

  private func error(_ message: String) -> ModelFileError {
    ModelFileError(file: url.path, message)
  }

  private static func withoutSuffix(_ name: String) -> String {
    for suffix in [sourceSuffix, compiledSuffix] where name.hasSuffix(suffix) {
      return String(name.dropLast(suffix.count))
    }
    return name
  }

  static func bytes(of file: URL) throws(ModelFileError) -> [UInt8] {
    do {
      return [UInt8](try Data(contentsOf: file))
    } catch {
      throw ModelFileError(
        file: file.path,
        "The file cannot be read. Check that it exists, and its permissions. (\(SystemReason.text(of: error)))"
      )
    }
  }
}

// MARK: CurrentVersionList

/// The property list with the current version of a bundle, of sources or compiled.
struct CurrentVersionList {
  private static let keys = ["_XCCurrentVersionName", "NSManagedObjectModel_CurrentVersionName"]

  /// The name of the current version; nil if the list does not contain one.
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
      throw ModelFileError(file: url.path, "This is not a property list with a dictionary in it.")
    }
    guard let value = Self.keys.compactMap({ members[$0] }).first else {
      versionName = nil
      return
    }
    guard case .string(let name) = value else {
      throw ModelFileError(file: url.path, "The name of the current version is not a string.")
    }
    versionName = name
  }
}
