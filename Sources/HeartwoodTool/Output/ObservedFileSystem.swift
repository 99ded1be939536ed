import Heartwood

/// The files of another file system, whose writing moves a progress bar.
struct ObservedFileSystem: FileSystem {
  let base: any FileSystem
  let progress: ProgressBar

  func status(atPath path: String) throws(PersistenceError) -> FileStatus? {
    try base.status(atPath: path)
  }

  func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
    try base.resolvingSymbolicLinks(inPath: path)
  }

  func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile {
    try base.openFile(atPath: path)
  }

  func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? {
    try base.openFileForPatching(atPath: path)
  }

  func createTemporaryFile(
    besidePath path: String,
    permissions: UInt32?
  ) throws(PersistenceError) -> any WritableFile {
    progress.begin(.writing)
    let file = try base.createTemporaryFile(besidePath: path, permissions: permissions)
    return ObservedFile(base: file, progress: progress)
  }

  func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError) {
    try base.removeAbandonedTemporaryFiles(besidePath: path)
  }

  func moveFile(
    atPath source: String,
    toPath destination: String,
    exclusively: Bool
  ) throws(PersistenceError) {
    try base.moveFile(atPath: source, toPath: destination, exclusively: exclusively)
  }

  func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {
    try base.synchronizeDirectory(ofPath: path)
  }

  func removeFile(atPath path: String) throws(PersistenceError) {
    try base.removeFile(atPath: path)
  }

  func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)? {
    try base.lockFile(atPath: path)
  }

  func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {
    try base.copyPermissions(ofFileAtPath: source, toPath: destination)
  }

  func isWritableFile(atPath path: String) -> Bool { base.isWritableFile(atPath: path) }

  func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] {
    try base.entries(ofFolderAtPath: path)
  }

  func createFolder(atPath path: String) throws(PersistenceError) {
    try base.createFolder(atPath: path)
  }

  func removeFolder(atPath path: String) throws(PersistenceError) {
    try base.removeFolder(atPath: path)
  }
}

private struct ObservedFile: WritableFile {
  let base: any WritableFile
  let progress: ProgressBar

  var path: String { base.path }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    try base.write(bytes)
    progress.advance(byBytes: bytes.count)
  }

  func synchronize() throws(PersistenceError) {
    progress.begin(.flushing)
    try base.synchronize()
  }

  func close() throws(PersistenceError) {
    try base.close()
  }
}
