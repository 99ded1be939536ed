#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// MARK: Folders

extension POSIXFileSystem {
  /// What is in a folder, which is not looked for behind a symbolic link: what is removed in it is in no other.
  public func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [] }
      throw .system(.fileReadFailed, "The folder cannot be read", path: path)
    }
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      throw .system(.fileReadFailed, "The folder cannot be read", path: path)
    }
    defer { closedir(stream) }
    var entries: [FolderEntry] = []
    while let entry = readdir(stream) {
      let name = Self.name(entry)
      if name != ".", name != ".." { entries.append(FolderEntry(name: name, kind: Self.kind(name, in: descriptor))) }
    }
    return entries
  }

  private static func kind(_ name: String, in folder: Int32) -> FolderEntry.Kind {
    var info = stat()
    guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return .other }
    return switch UInt32(info.st_mode) & UInt32(S_IFMT) {
    case UInt32(S_IFREG): .file
    case UInt32(S_IFDIR): .folder
    default: .other
    }
  }

  /// Makes a folder, which may be there already.
  public func createFolder(atPath path: String) throws(PersistenceError) {
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw .system(.fileWriteFailed, "The folder cannot be made", path: path)
    }
  }

  /// The permission bits that an open folder is to have for files with `permissions`; nil where it is no folder. Who may read such files finds
  /// them, who may write them adds to them, and so does the owner. That files get the group of the folder stays as it is.
  static func folderPermissions(_ descriptor: Int32, for permissions: UInt32) -> UInt32? {
    var info = stat()
    guard fstat(descriptor, &info) == 0, UInt32(info.st_mode) & UInt32(S_IFMT) == UInt32(S_IFDIR) else { return nil }
    let searching = (permissions & 0o444) >> 2
    return UInt32(info.st_mode) & 0o7000 | 0o700 | permissions & 0o666 | searching
  }

  /// Removes a folder, unless something is in it.
  public func removeFolder(atPath path: String) throws(PersistenceError) {
    guard rmdir(path) == 0 || [ENOENT, ENOTEMPTY, EEXIST].contains(errno) else {
      throw .system(.fileWriteFailed, "The folder cannot be removed", path: path)
    }
  }
}
