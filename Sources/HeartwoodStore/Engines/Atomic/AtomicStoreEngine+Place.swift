import Synchronization

// MARK: The file on the disk

extension AtomicStoreEngine {
  package func fileState() throws(PersistenceError) -> StoreFileState {
    let state = state.withLock { $0 }
    guard let path = state.path else { return .absent }
    let found = try fileSystem.status(atPath: path)
    guard let standing = state.standing else {
      return found.map { $0.isRegularFile && $0.size == 0 } ?? true ? .absent : .changed
    }
    if let found { return found.identity == standing ? .unchanged : .changed }
    return try state.file?.file.currentPath().map { .moved(path: $0) } ?? .removed
  }

  package func setPath(_ path: String) throws(PersistenceError) {
    guard self.path != nil else {
      throw PersistenceError(
        .capabilityMissing,
        "The store has no file that could be elsewhere.",
        recovery: "Convert it to a type that has one.",
        context: .init(path: path, storeType: typeDescription.type)
      )
    }
    let found = try fileSystem.status(atPath: path)?.identity
    saving.withLock { _ in
      state.withLock { state in
        state.path = path
        // A file at the new path counts as ours only if it is the one that was loaded or saved, moved there.
        let known = [state.standing, state.file?.status.identity]
        state.standing = known.contains(found) ? found : nil
      }
    }
  }

  /// The file that was saved, so that the system can tell where it goes from here. It was opened by its temporary name: systems follow it
  /// from there where it was renamed, but not where it got its own name by a link, as a new file may. Then it is opened again by that.
  func byItsName(_ file: StoreInput) -> StoreInput {
    // try?: without it the file is followed by the name that it was opened by.
    let isKnown = ((try? file.file.currentPath()) ?? nil) != nil
    guard !isKnown, let opened = try? fileSystem.openFile(atPath: file.path),
      let named = try? StoreInput(opened), named.status.identity == file.status.identity
    else { return file }
    return named
  }
}
