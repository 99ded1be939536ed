/// A store whose whole file is loaded and saved: what the author of a file format writes.
///
/// The author reads records from a file and writes records to one. Faulting, fetching, relationships, conflict detection, the
/// replacement of the old file by the new in one step and the locking between processes come from the framework.
///
///     final class JSONLinesStore: AtomicStore, StoreClass {
///       static let typeDescription = StoreTypeDescription(type: "JSONLines", …)
///       init(_ setup: StoreSetup) { … }
///       func load(_ file: StoreInput, into loader: StoreLoader) throws {
///         loader.metadata = …
///         for … { try loader.addNode(reference, to: entity) { node in try node.setValue(…, forKey: …) } }
///       }
///       func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
///         for node in contents.nodes { try output.write(…) }
///       }
///     }
public protocol AtomicStore: AnyObject, Sendable {
  /// Reads the file's metadata and records.
  func load(_ file: StoreInput, into loader: StoreLoader) throws

  /// Whether the store can hold `contents`; called before anything is written. What ``StoreCapabilities`` declare has been checked.
  func validate(_ contents: StoreContents) throws

  /// Writes the whole file.
  ///
  /// - Parameters:
  ///   - contents: what to write. The store may change its ``StoreContents/attachment``.
  ///   - previous: the file that is being replaced and what it held, or nil for a new one.
  ///   - output: where to write it.
  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws
}

extension AtomicStore {
  /// Accepts everything.
  public func validate(_ contents: StoreContents) throws {}
}

/// The file that a save replaces.
public struct PreviousSave: Sendable {
  /// What the file holds.
  public let contents: StoreContents
  /// The file, open for reading.
  public let file: StoreInput

  package init(contents: StoreContents, file: StoreInput) {
    self.contents = contents
    self.file = file
  }
}
