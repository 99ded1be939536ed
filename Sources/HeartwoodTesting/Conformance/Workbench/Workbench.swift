import Heartwood
package import HeartwoodFoundation
import HeartwoodStore
import Synchronization

/// What a case works with: a model, files of its own, and stores of the type that is tested.
struct Workbench {
  let conformance: StoreConformance
  let model: ManagedObjectModel
  let disk: ConformanceDisk
  let fileSystem: any FileSystem

  /// - Parameters:
  ///   - disk: nil means one that stores of the type can use.
  ///   - fileSystem: what the stores see of the disk; nil means all of it, without faults.
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

  /// The same place, seen through `fileSystem`.
  func seen(through fileSystem: any FileSystem) throws -> Workbench {
    try Workbench(conformance, model: model, disk: disk, fileSystem: fileSystem)
  }

  /// The same place, in which stores are opened as another conformance says.
  func with(_ conformance: StoreConformance) throws -> Workbench {
    try Workbench(conformance, model: model, disk: disk, fileSystem: fileSystem)
  }

  var options: StoreOptions { conformance.options(model) }
}

// MARK: Files

extension Workbench {
  /// What every store's file is called unless a case needs several.
  static let name = "store"

  /// The name of a file, with the extension of the type.
  func fileName(_ name: String = Workbench.name, type: StoreTypeDescription? = nil) -> String {
    (type ?? conformance.typeDescription).fileExtensions.first.map { "\(name).\($0)" } ?? name
  }

  func path(_ name: String = Workbench.name, type: StoreTypeDescription? = nil) -> String {
    disk.path(fileName(name, type: type))
  }

  /// The place of a store of `type`; nil where such stores have no files.
  func url(_ name: String = Workbench.name, type: StoreTypeDescription? = nil) -> URL? {
    let description = type ?? conformance.typeDescription
    guard description.capabilities.supports(.persistence) else { return nil }
    if description.type == conformance.type, let url = conformance.url(name, in: disk.path("")) { return url }
    return URL(filePath: path(name, type: type))
  }

  /// Fails unless the files are those of the stores called `names`. What a store that reaches its files by itself keeps beside its file has
  /// a name that begins with the file's.
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

  /// The bytes of a store's file; for a store that is no file, those of a binary store with the same records and metadata.
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
  /// A coordinator that knows the type that is tested and all that ship.
  func makeCoordinator() throws -> PersistentStoreCoordinator {
    let registry = StoreRegistry()
    try registry.register(conformance.format)
    for description in StoreRegistry.default.typeDescriptions where description.type != conformance.type {
      try registry.register(try StoreRegistry.default.format(for: description.type))
    }
    return try PersistentStoreCoordinator(managedObjectModel: model, registry: registry, fileSystem: fileSystem)
  }

  /// Opens a store, all of whose records are read: they stay as saves leave them, to be held against what others find.
  func open(
    _ name: String = Workbench.name,
    readOnly: Bool = false,
    tracksHistory: Bool = false
  ) throws -> OpenStore {
    let open = try openUnread(name, readOnly: readOnly, tracksHistory: tracksHistory)
    if conformance.reachesFilesItself { _ = try open.contents() }
    return open
  }

  /// Opens a store whose records are read when they are needed, if it is one that does so.
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

  /// A store that holds anything, to prepare contents in.
  func openInMemory(tracksHistory: Bool = false) throws -> OpenStore {
    var options = StoreOptions()
    if tracksHistory { options[.tracksPersistentHistory] = true }
    let coordinator = try makeCoordinator()
    return openStore(try coordinator.addPersistentStore(type: .inMemory, at: nil, options: options), in: coordinator)
  }

  /// Writes what `source` keeps as a store of the tested type, and opens that.
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

  /// The store as somebody else finds it who opens the file; for a store without one, the same store.
  func reopened(_ open: OpenStore, _ name: String = Workbench.name) throws -> OpenStore {
    conformance.capabilities.supports(.persistence) ? try openUnread(name) : open
  }

  /// Fails unless whoever opens the file finds what `open` has, in the same versions where records are saved piecemeal.
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
    // Those whose whole file is loaded begin versions anew.
    if conformance.reachesFilesItself { try expectSameVersions(contents, as: expected, "the reopened store") }
    return found
  }

  /// The same after saves of several contexts: a store that calls records by names of its own may have them in the order of these, and
  /// not in that of the saves.
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

/// Where a case keeps its files: in memory, or in a folder on the disk that nobody else has.
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

  /// The names of all files, sorted, those that are hidden included.
  func fileNames() throws -> [String] {
    switch place {
    case .memory(let files): files.paths.map { String($0.dropFirst(path("").count)) }
    case .folder(let path): try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
  }

  /// Copies all files to a folder, as a disk would have them if everybody stopped now.
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

/// The folders that a case makes on the disk, which are gone when it ends.
package final class ConformanceFolders: Sendable {
  private let paths = Mutex<[String]>([])
  private let urls = Mutex<Set<URL>>([])

  package init() {}

  /// A new folder that nobody else has, by the path that leads there without links: stores tell where their files really are.
  package func make(in parent: URL = FileManager.default.temporaryDirectory) throws -> String {
    let url = parent.appending(path: "heartwood-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let path = try POSIXFileSystem().resolvingSymbolicLinks(inPath: url.path)
    paths.withLock { $0.append(path) }
    return path
  }

  /// Notes the URL of a store that goes with the folders.
  func note(_ url: URL) {
    urls.withLock { _ = $0.insert(url) }
  }

  package func remove() {
    for path in paths.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }

  /// Removes the folders, and the stores at URLs.
  func remove(_ format: any StoreFormat) {
    remove()
    guard let format = format as? any IncrementalStoreFormat else { return }
    // try?: at most of the URLs a store was made, and not at all of them.
    for url in urls.withLock({ $0 }) { try? format.removeStore(at: url, options: StoreOptions()) }
  }
}
