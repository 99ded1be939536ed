/// A store that is loaded and saved as a whole file: what you implement for a file format.
///
/// The store reads records from a file and writes records to one. The framework does faulting, fetching, relationships,
/// conflict detection, the replacement of the old file by the new one in one step, and locking between processes.
///
///     final class JSONLinesStore: AtomicStore, StoreClass {
///       static let typeDescription = StoreTypeDescription(type: "JSONLines", …)
///       init(_ setup: StoreSetup) { … }
///       static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata { … }
///       func load(_ file: StoreInput, into loader: StoreLoader) throws {
///         for … { try loader.addNode(reference, to: entity) { node in try node.setValue(…, forKey: …) } }
///       }
///       func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
///         for node in contents.nodes { try output.write(…) }
///       }
///     }
///
/// <doc:WriteAStore> explains each step. A format that keeps columns can read and write them without a call for each
/// value: <doc:WriteAFastStore>.
public protocol AtomicStore: AnyObject, Sendable {
  /// Reads the records of the file, and adds them to `loader`.
  ///
  /// The framework calls it at most once for a store, when a file that is not empty is opened or salvaged. On opening,
  /// ``StoreLoader/metadata`` has been set to what ``FileFormat/readMetadata(from:options:)`` returned.
  ///
  /// - Throws: any error, which refuses the file. A ``PersistenceError`` without a path gets that of the file; another
  ///   error is reported as ``PersistenceError/Code/fileMalformed``. If the file has been written since it was opened,
  ///   the error is ``PersistenceError/Code/fileChangedOnDisk``. After the call, the framework throws
  ///   ``PersistenceError/Code/duplicateReference`` if two records of an entity that were added one by one have the
  ///   same reference.
  func load(_ file: StoreInput, into loader: StoreLoader) throws

  /// Throws an error if the store cannot hold `contents`. It is called before each save, before anything is written,
  /// and after the framework has checked what the ``StoreCapabilities`` declare. The default accepts everything.
  func validate(_ contents: StoreContents) throws

  /// Writes the whole file to `output`. It is not called for a store without a file.
  ///
  /// The output is a temporary file. It replaces the store's file only after this method has returned and everything is
  /// written, so the old file stays as it was if the method throws. Do not write to the store's path.
  ///
  /// - Parameters:
  ///   - contents: the records and the metadata to write. The store may change the ``StoreContents/attachment``.
  ///   - previous: the file that is being replaced and its contents; nil if there is no file yet.
  ///   - output: the new file.
  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws
}

extension AtomicStore {
  /// Accepts everything.
  public func validate(_ contents: StoreContents) throws {}
}

// MARK: AppendingStore

/// An atomic store that can add a save of few records to the end of its file, so that it costs what the changes cost,
/// whatever the length of the file.
///
///     extension LedgerStore: AppendingStore {
///       func appendix(
///         for changes: ChangeSet,
///         recordedAs transaction: ByteSlice?,
///         in contents: inout StoreContents,
///         before: StoreContents
///       ) throws -> FileAppendix? {
///         guard let end = contents.attachment as? Int else { return nil }
///         let bytes = try Block(changes, contents).bytes
///         if bytes.count > end / 8 { return nil }
///         contents.attachment = end + bytes.count
///         return FileAppendix(start: end, bytes: bytes)
///       }
///     }
///
/// The bytes are on the disk when the save returns. A crash, or a full disk, may leave any part of them at the end of
/// the file, so ``AtomicStore/load(_:into:)`` must find the end of the last complete save by what is in the file: give
/// each save its length and a checksum. It keeps that end, or whatever else is needed to add the next save, in
/// ``StoreLoader/attachment``. Other processes may open the file while bytes are added; they read it as it was.
///
/// The framework cuts off what an interrupted save has left, locks the file, detects saves of other processes, and
/// replaces the file as a whole if a write has failed, and for `heartwood compact`. <doc:WriteAFastStore> shows a whole
/// store.
public protocol AppendingStore: AtomicStore {
  /// Returns what a save adds to the file; nil if ``AtomicStore/save(_:over:to:)`` should write the whole file, because
  /// the changes are many or the added ones have become many. It does no I/O.
  ///
  /// The framework does not call it for the first save of a file, for one that changes the metadata, or while the file
  /// may be damaged by a failed write: these write the whole file.
  ///
  /// - Parameters:
  ///   - changes: what the save changes. All ids are permanent.
  ///   - transaction: the transaction that the save adds to the history, as the bytes of a ``HistoryPage``; nil if none
  ///     is kept.
  ///   - contents: the records after the save. Set their ``StoreContents/attachment`` to what it is once the bytes are
  ///     added; it is not kept if the save fails.
  ///   - before: the records before the save.
  /// - Throws: any error, which makes the save fail without a change of the file.
  func appendix(
    for changes: ChangeSet,
    recordedAs transaction: ByteSlice?,
    in contents: inout StoreContents,
    before: StoreContents
  ) throws -> FileAppendix?
}

/// The file that a save replaces, for a store that reuses parts of it.
public struct PreviousSave: Sendable {
  /// The contents of the file.
  public let contents: StoreContents
  /// The file, open for reading.
  public let file: StoreInput

  package init(contents: StoreContents, file: StoreInput) {
    self.contents = contents
    self.file = file
  }
}
