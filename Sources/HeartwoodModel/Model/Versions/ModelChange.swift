/// One difference between two versions of a model.
public struct ModelChange: Sendable, Hashable, CustomStringConvertible {
  /// What has happened. The raw value is how programs know it.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// It is in the new version alone.
    case added
    /// It is in the old version alone.
    case removed
    /// It has another name, as its renaming identifier tells.
    case renamed
    /// Something else that is said of it differs.
    case changed
  }

  /// What has happened.
  public let kind: Kind
  /// Where, by the names of the new version, or for what was removed, of the old: `ToDo`, `ToDo.memo`, `configuration Cloud`.
  public let path: String
  /// What differs, for people: `optional: no → yes`.
  public let detail: String
  /// Why stores of the old version cannot be migrated by inference; nil where this change is no hindrance.
  public let obstacle: String?
  /// Whether the version hash of an entity is another by it, so that stores have to be migrated at all.
  public let changesStores: Bool

  init(_ kind: Kind, _ path: String, _ detail: String, obstacle: String? = nil, changesStores: Bool = true) {
    self.kind = kind
    self.path = path
    self.detail = detail
    self.obstacle = obstacle
    self.changesStores = changesStores
  }

  /// Whether it is about a property, and not an entity as a whole or a configuration.
  package var isOfProperty: Bool { path.contains(".") }

  /// The change in a line.
  public var description: String {
    detail.isEmpty ? "\(kind.rawValue) \(path)" : "\(kind.rawValue) \(path): \(detail)"
  }
}
