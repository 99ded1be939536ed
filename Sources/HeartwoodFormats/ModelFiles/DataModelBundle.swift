#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The folder of a model, or of several versions of one, as Xcode lays it out.
struct DataModelBundle {
  private static let versionSuffix = ".xcdatamodel"
  private static let contentsName = "contents"
  private static let currentVersionName = ".xccurrentversion"
  private static let compiledSuffixes = [".mom", ".momd", ".omo"]

  private let url: URL

  init(_ url: URL) {
    self.url = url
  }

  /// The `contents` file of `version`; nil means the current version.
  func contents(version: String?) throws(ModelFileError) -> URL {
    let shape = try shape()
    guard let version else { return try contents(in: shape, currentVersion(in: shape)) }
    let name = Self.withoutSuffix(version)
    guard shape.versions.contains(name) else {
      throw error("There is no version “\(name)”. There are: \(shape.versions.joined(separator: ", ")).")
    }
    return try contents(in: shape, name)
  }

  func versions() throws(ModelFileError) -> [String] {
    try shape().versions
  }

  func currentVersion() throws(ModelFileError) -> String {
    try currentVersion(in: shape())
  }
}

extension DataModelBundle {
  /// What there is at the URL.
  private struct Shape {
    enum Kind { case contentsFile, model, bundle }
    let kind: Kind
    let versions: [String]
  }

  private func shape() throws(ModelFileError) -> Shape {
    guard url.isFileURL else { throw error("This is no URL of a file. Give a path.") }
    var isFolder = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw error("There is no such file or folder.")
    }
    if Self.compiledSuffixes.contains(where: url.lastPathComponent.hasSuffix) {
      throw error("Compiled models are not read yet. Give the .xcdatamodeld that this was compiled from.")
    }
    guard isFolder else { return Shape(kind: .contentsFile, versions: [ownName(of: url.deletingLastPathComponent())]) }
    return try folderShape(names())
  }

  private func folderShape(_ names: [String]) throws(ModelFileError) -> Shape {
    if names.contains(Self.contentsName) { return Shape(kind: .model, versions: [ownName(of: url)]) }
    let versions = names.filter { $0.hasSuffix(Self.versionSuffix) }.map(Self.withoutSuffix).sorted()
    if !versions.isEmpty { return Shape(kind: .bundle, versions: versions) }
    if names.contains("elements") {
      throw error("This model is in the form of Xcode 3, which is not read yet. Open and save it in a newer Xcode.")
    }
    throw error("There is no model here: neither a file “\(Self.contentsName)” nor a folder “*\(Self.versionSuffix)”.")
  }

  private func contents(in shape: Shape, _ version: String) throws(ModelFileError) -> URL {
    switch shape.kind {
    case .contentsFile: url
    case .model: url.appending(path: Self.contentsName)
    case .bundle: try DataModelBundle(url.appending(path: version + Self.versionSuffix)).contents(version: nil)
    }
  }

  private func currentVersion(in shape: Shape) throws(ModelFileError) -> String {
    if shape.kind == .bundle, let name = try namedCurrentVersion() {
      guard shape.versions.contains(name) else {
        throw error(
          "\(Self.currentVersionName) names the version “\(name)”, which is not there. Add it, or name another."
        )
      }
      return name
    }
    guard let only = shape.versions.first, shape.versions.count == 1 else {
      let versions = shape.versions.joined(separator: ", ")
      throw error("\(Self.currentVersionName) names no version. Say which one to read: \(versions).")
    }
    return only
  }

  /// The version that the bundle's property list names, or nil where there is no list or it names none.
  private func namedCurrentVersion() throws(ModelFileError) -> String? {
    let list = url.appending(path: Self.currentVersionName)
    guard FileManager.default.fileExists(atPath: list.path) else { return nil }
    return try CurrentVersionList(list).versionName.map(Self.withoutSuffix)
  }

  private func names() throws(ModelFileError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw self.error("The folder cannot be read. Check its permissions. (\(error))")
    }
  }

  private func ownName(of folder: URL) -> String {
    Self.withoutSuffix(folder.lastPathComponent)
  }

  private func error(_ message: String) -> ModelFileError {
    ModelFileError(file: url.path, message)
  }

  private static func withoutSuffix(_ name: String) -> String {
    name.hasSuffix(versionSuffix) ? String(name.dropLast(versionSuffix.count)) : name
  }

  static func bytes(of file: URL) throws(ModelFileError) -> [UInt8] {
    do {
      return [UInt8](try Data(contentsOf: file))
    } catch {
      throw ModelFileError(
        file: file.path,
        "The file cannot be read. Check that it is there and its permissions. (\(error))"
      )
    }
  }
}
