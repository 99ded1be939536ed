public import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a person wants to know of a document: where it is, and whether there is something to save.
public struct DocumentState: Sendable, Equatable {
  /// The document's file; nil for one that was never saved.
  public internal(set) var url: URL?
  /// The type of the store that keeps the document.
  public internal(set) var storeType: StoreType
  /// Whether there is something that the next save would write.
  public internal(set) var hasUnsavedChanges: Bool
  /// What had become of the file when that was last looked at: when the document was opened, saved, autosaved or asked.
  public internal(set) var fileState: StoreFileState
  /// Why the last autosave failed; nil where it did not, had nothing to save, or another save has succeeded since.
  public internal(set) var autosaveError: PersistenceError?

  /// Whether both tell the same.
  public static func == (left: DocumentState, right: DocumentState) -> Bool {
    left.url == right.url && left.storeType == right.storeType && left.hasUnsavedChanges == right.hasUnsavedChanges
      && left.fileState == right.fileState
      && left.autosaveError?.description == right.autosaveError?.description
  }
}
