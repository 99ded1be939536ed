import Heartwood
package import HeartwoodFoundation
import HeartwoodStore
import Synchronization

/// The model, the files and the stores of a conformance case.
struct Workbench {
  let conformance: StoreConformance
  let model: ManagedObjectModel
  let disk: ConformanceDisk
  let fileSystem: any FileSystem

  /// Creates a workbench.
  ///
  /// - Parameters:
  ///   - disk: the place for files; nil for one that stores of the type can use.
  ///   - fileSystem: the file system through which stores access the disk; nil for that of the disk, without faults.
  init(
    _ conformance: StoreConformance,
    model: ManagedObjectModel,
    disk: ConformanceDisk? = nil,
    fileSystem: (any FileSystem)? = nil
  ) throws {
    self.conformance = conformance
    self.model = model
    self.disk = try disk ?? conformance.makeDisk()
    self.fileSystem = fileSystem ?? self.disk.fileSystem
  }

  /// Returns a workbench with the same files, accessed through `fileSystem`.
  func seen(through fileSystem: any FileSystem) throws -> Workbench {
    try Workbench(conformance, model: model, disk: disk, fileSystem: fileSystem)
  }

  /// Returns a workbench with the same files and stores of another description.
  func with(_ conformance: StoreConformance) throws -> Workbench {
    try Workbench(conformance, model: model, disk: disk, fileSystem: fileSystem)
  }

  var options: StoreOptions { conformance.options(model) }
}

// MARK: Files

extension Workbench {
  /// The name of the file, in cases that need only one.
  static let name = "store"

  /// Returns the name of a file, with the extension of the type.
  func fileName(_ name: String = Workbench.name, type: StoreTypeDescription? = nil) -> String {
    (type ?? conformance.typeDescription).fileExtensions.first.map { "\(name).\($0)" } ?? name
  }

  func path(_ name: String = Workbench.name, type: StoreTypeDescription? = nil) -> String {
    disk.path(fileName(name, type: type))
  }

  /// Returns the URL of a store of `type`; nil if the type has no files.
  func url(_ name: String = Workbench.name, type: StoreTypeDescription? = nil) -> URL? {
    let description = type ?? conformance.typeDescription
    guard description.capabilities.supports(.persistence) else { return nil }
    if description.type == conformance.type, let url = conformance.url(name, in: disk.path("")) { return url }
    return URL(filePath: path(name, type: type))
  }

  /// Fails unless the files are those of the stores called `names`. A store that opens its files itself may have
  /// further files whose names begin with that of its file.
  func expectFiles(_ when: String = "", called names: [String] = [Workbench.name]) throws {
    guard conformance.isFile else { return }
    let expected = names.map { fileName($0) }
    var found = try disk.fileNames()
    if conformance.reachesFilesItself {
      found.removeAll { name in !expected.contains(name) && expected.contains { name.hasPrefix($0) } }
    }
    try expect(when.isEmpty ? "the files" : "the files \(when)", is: expected.sorted(), found: found.sorted())
  }

  func input(_ name: String = Workbench.name) throws -> StoreInput {
    try StoreInput(try disk.fileSystem.openFile(atPath: path(name)))
  }

  /// Returns the bytes of a store's file. For a store that is not a file, returns the bytes of a binary store with the
  /// same records and metadata.
  func bytes(_ name: String = Workbench.name) throws -> [UInt8] {
    if conformance.isFile { return try input(name).bytes() }
    let (files, path) = (InMemoryFileSystem(), "/copy.heartwood")
    let found = try openUnread(name, readOnly: true)
    defer { found.coordinator.close() }
    let storeManager = StoreManager(model: model, registry: found.coordinator.registry, fileSystem: files)
    let request = StoreManager.Request(type: .binary, path: path, options: StoreOptions())
    _ = try storeManager.convert(found.store, to: request, replacing: false)
    return try StoreInput(try files.openFile(atPath: path)).bytes()
  }

  /// Fails unless there is no store, and no file.
  func expectNothing(_ when: String) throws {
    try expect("the files \(when)", is: [], found: try disk.fileNames())
    guard !conformance.isFile, let url = url() else { return }
    try expectError(.fileNotFound, when: "the metadata of no store are read") {
      _ = try makeCoordinator().metadataForPersistentStore(type: conformance.type, at: url, options: options)
    }
  }
}

// MARK: Stores

extension Workbench {
  /// Makes a coordinator with the tested type and all built-in types.
  func makeCoordinator() throws -> PersistentStoreCoordinator {
    let registry = StoreRegistry()
    try registry.register(conformance.format)
    for description in StoreRegistry.default.typeDescriptions where description.type != conformance.type {
      try registry.register(try StoreRegistry.default.format(for: description.type))
    }
    return try PersistentStoreCoordinator(managedObjectModel: model, registry: registry, fileSystem: fileSystem)
  }

  /// Opens a store and reads all of its records. They are kept as saves leave them, so that they can be compared with
  /// the saved ones.
  func open(
    _ name: String = Workbench.name,
    readOnly: Bool = false,
    tracksHistory: Bool = false
  ) throws -> OpenStore {
    let open = try openUnread(name, readOnly: readOnly, tracksHistory: tracksHistory)
    if conformance.reachesFilesItself { _ = try open.contents() }
    return open
  }

  /// Opens a store. An incremental store reads records when they are needed.
  func openUnread(
    _ name: String = Workbench.name,
    readOnly: Bool = false,
    tracksHistory: Bool = false
  ) throws -> OpenStore {
    var options = options
    if readOnly { options[.isReadOnly] = true }
    if tracksHistory { options[.tracksPersistentHistory] = true }
    let coordinator = try makeCoordinator()
    let store = try coordinator.addPersistentStore(type: conformance.type, at: url(name), options: options)
    return openStore(store, in: coordinator)
  }

  func openStore(_ store: PersistentStore, in coordinator: PersistentStoreCoordinator) -> OpenStore {
    OpenStore(coordinator: coordinator, store: store, refuses: conformance.refuses)
  }

  /// Opens a store that can hold any contents, to prepare them.
  func openInMemory(tracksHistory: Bool = false) throws -> OpenStore {
    var options = StoreOptions()
    if tracksHistory { options[.tracksPersistentHistory] = true }
    let coordinator = try makeCoordinator()
    return openStore(try coordinator.addPersistentStore(type: .inMemory, at: nil, options: options), in: coordinator)
  }

  /// Converts `source` to a store of the tested type, and returns it.
  @discardableResult
  func convert(_ source: OpenStore, to name: String = Workbench.name) throws -> OpenStore {
    let store = try source.coordinator.convert(
      source.store,
      to: url(name),
      type: conformance.type,
      options: options
    )
    return openStore(store, in: source.coordinator)
  }

  /// Opens the store's file again in another coordinator. Returns the same store if it has no file.
  func reopened(_ open: OpenStore, _ name: String = Workbench.name) throws -> OpenStore {
    conformance.capabilities.supports(.persistence) ? try openUnread(name) : open
  }

  /// Fails unless the reopened store has the same contents as `open`, and, for an incremental store, the same versions.
  @discardableResult
  func expectReopensSame(_ open: OpenStore, _ name: String = Workbench.name) throws -> OpenStore {
    let expected = try open.contents()
    let found = try reopened(open, name)
    let contents = try found.contents()
    if conformance.ordersRecords {
      try expectSame(contents, as: expected, "the reopened store")
    } else {
      try expectSameRecords(contents, as: expected, "the reopened store")
    }
    // Stores that load the whole file do not keep versions.
    if conformance.reachesFilesItself { try expectSameVersions(contents, as: expected, "the reopened store") }
    return found
  }

  /// Fails unless the reopened store has the same contents, after saves of several contexts. A store that assigns
  /// references itself may have the records in the order of the references, and not in that of the saves.
  @discardableResult
  func expectReopensSameAfterRaces(_ open: OpenStore) throws -> OpenStore {
    guard conformance.capabilities.kind == .incremental else { return try expectReopensSame(open) }
    let expected = try open.contents()
    let found = try reopened(open)
    try expectSameRecords(try found.contents(), as: expected, "the reopened store")
    return found
  }
}

// MARK: ConformanceDisk

/// The place of a case's files: in memory, or in a unique folder on the disk.
struct ConformanceDisk {
  private enum Place {
    case memory(InMemoryFileSystem)
    case folder(String)
  }

  private let place: Place

  static func memory() -> ConformanceDisk { ConformanceDisk(place: .memory(InMemoryFileSystem())) }

  static func folder(_ path: String) -> ConformanceDisk { ConformanceDisk(place: .folder(path)) }

  var fileSystem: any FileSystem {
    switch place {
    case .memory(let files): files
    case .folder: POSIXFileSystem()
    }
  }

  func path(_ name: String) -> String {
    switch place {
    case .memory: "/conformance/\(name)"
    case .folder(let path): "\(path)/\(name)"
    }
  }

  /// Returns the names of all files, sorted, including hidden ones.
  func fileNames() throws -> [String] {
    switch place {
    case .memory(let files): files.paths.map { String($0.dropFirst(path("").count)) }
    case .folder(let path): try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
  }

  /// Copies all files to a folder, in the state in which they would be on the disk if all processes ended now.
  func copyFiles(to other: ConformanceDisk) throws {
    for name in try fileNames() {
      try FileManager.default.copyItem(atPath: path(name), toPath: other.path(name))
    }
  }

  /// Writes a file as an editor does.
  func write(_ bytes: [UInt8], to name: String) throws {
    switch place {
    case .memory(let files): try files.setContents(bytes, ofFileAtPath: path(name))
    case .folder: try Data(bytes).write(to: URL(filePath: path(name)))
    }
  }
}

// MARK: ConformanceFolders

/// The folders that a case makes on the disk, which are removed when it ends.
package final class ConformanceFolders: Sendable {
  private let paths = Mutex<[String]>([])
  private let urls = Mutex<Set<URL>>([])

  package init() {}

  /// Makes a unique folder, and returns its path without symbolic links, because stores report the real paths of their
  /// files.
  package func make(in parent: URL = FileManager.default.temporaryDirectory) throws -> String {
    let url = parent.appending(path: "heartwood-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let path = try POSIXFileSystem().resolvingSymbolicLinks(inPath: url.path)
    paths.withLock { $0.append(path) }
    return path
  }

  /// Notes the URL of a store, to be removed with the folders.
  func note(_ url: URL) {
    urls.withLock { _ = $0.insert(url) }
  }

  package func remove() {
    for path in paths.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }

  /// Removes the folders and the stores.
  func remove(_ format: any StoreFormat) {
    remove()
    guard let format = format as? any IncrementalStoreFormat else { return }
    // try?: at most of the URLs a store was made, and not at all of them.
    for url in urls.withLock({ $0 }) { try? format.removeStore(at: url, options: StoreOptions()) }
  }
}
