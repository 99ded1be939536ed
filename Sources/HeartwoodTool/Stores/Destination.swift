import Heartwood
import HeartwoodStore

/// The file that a conversion writes.
struct Destination {
  let path: String
  /// The type that the user gives; nil means that the extension tells.
  let typeName: String?
  /// Whether a file that is there is replaced.
  let isReplaced: Bool

  /// The type of the new file: what may be there now has no say.
  func type(in registry: StoreRegistry) throws(PersistenceError) -> StoreType {
    if let typeName { return try registry.storeClass(for: StoreType(typeName)).typeDescription.type }
    if let type = registry.types(forFileName: path).first { return type }
    let extensions = registry.typeDescriptions.flatMap(\.fileExtensions).joined(separator: ", ")
    throw PersistenceError(
      .storeTypeUndetermined,
      "The name does not say of which type the store is.",
      recovery: "Give the type with --to, or a name with one of the extensions \(extensions).",
      context: .init(path: path)
    )
  }

  /// Refuses the source itself, under whatever name, and a file that is not to be replaced.
  func check(against source: String, in fileSystem: any FileSystem) throws {
    guard let status = try fileSystem.status(atPath: path) else { return }
    try Self.check(path, status, isNot: fileSystem.status(atPath: source))
    guard status.isRegularFile else { throw ToolError(at: path, "It is not a file. Choose another name.") }
    guard status.size > 0, !isReplaced else { return }
    throw PersistenceError(.fileExists, "There is a file already.", recovery: .replaceFile, context: .init(path: path))
  }

  /// Refuses a file that is the source, under whatever name.
  static func check(_ path: String, _ status: FileStatus, isNot source: FileStatus?) throws(ToolError) {
    guard let source, source.identity.isSameFile(as: status.identity) else { return }
    throw ToolError(at: path, "The source and the destination are the same file. Choose another name.")
  }
}
