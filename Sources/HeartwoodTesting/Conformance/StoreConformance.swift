public import Heartwood
public import HeartwoodFoundation
import HeartwoodStore

/// Describes a store for the conformance kit, which tests it.
///
/// The kit derives everything else from the ``StoreCapabilities`` that the store declares. Each behaviour is a case, a
/// value that runs with any test library. With Swift Testing:
///
///     static let conformance = StoreConformance(
///       JSONLinesStore.self,
///       detectsEveryChange: false,
///       writesSameBytes: true,
///       tellsModelVersion: true,
///       options: { _ in StoreOptions() },
///       refuses: { _, _ in false }
///     )
///
///     @Test(arguments: conformance.cases)
///     func conforms(_ testCase: ConformanceCase) throws { try testCase.run() }
///
/// An `IncrementalStore` is tested on files on the disk, and interrupted at each step of a save. Describe a store that
/// is not a file by its format and a function that makes URLs; the cases about files are left out.
///
/// No parameter has a default value, so that no limitation of a store is overlooked. What the store has declared to
/// lack is tested too: it has to be refused with the right error.
public struct StoreConformance: Sendable {
  /// The format of the tested store. It need not be registered.
  public internal(set) var format: any StoreFormat
  /// Whether a file in which any byte has changed or is missing is always refused, as with checksums.
  public let detectsEveryChange: Bool
  /// Whether the same contents always give the same bytes, so that files can be compared and kept in version control.
  public let writesSameBytes: Bool
  /// Whether a file holds the version of the model that it was written with, in ``StoreMetadata/modelVersionHashes``.
  public let tellsModelVersion: Bool
  var options: @Sendable (ManagedObjectModel) -> StoreOptions
  /// The function that makes the URL of a store from a name; nil for stores that are files or have no place.
  private let makeURL: (@Sendable (String) -> URL)?
  /// The folders of the running case.
  private var folders = ConformanceFolders()
  let refuses: @Sendable (PropertyValue, AttributeType) -> Bool

  /// Describes a store.
  ///
  /// - Parameters:
  ///   - format: the format of the store.
  ///   - url: makes the URL of a store from a unique name of lower-case letters, digits and underscores; nil for stores
  ///     that are files or have no place. The kit removes the stores that it has made:
  ///     `IncrementalStoreFormat.removeStore(at:options:)`.
  ///   - detectsEveryChange: whether a file in which any byte has changed or is missing is always refused. If false,
  ///     the store may load a damaged file with other contents, but must not trap.
  ///   - writesSameBytes: whether the same contents always give the same bytes. With encryption, for example, they must
  ///     not: if false, an atomic store has to write different bytes each time.
  ///   - tellsModelVersion: whether a file holds the version of the model that it was written with, in
  ///     ``StoreMetadata/modelVersionHashes``. If false, a file is opened with any version that its records fit, and
  ///     migrations are not tested.
  ///   - options: makes the options to open a store of a model with.
  ///   - refuses: returns whether the store cannot hold a value, although it supports the attribute's type. Such a
  ///     value has to be refused with ``PersistenceError/Code/valueUnsupported``; every other value has to be read as
  ///     it was saved.
  public init(
    _ format: any StoreFormat,
    at url: (@Sendable (_ name: String) -> URL)? = nil,
    detectsEveryChange: Bool,
    writesSameBytes: Bool,
    tellsModelVersion: Bool,
    options: @escaping @Sendable (_ model: ManagedObjectModel) -> StoreOptions,
    refuses: @escaping @Sendable (_ value: PropertyValue, _ type: AttributeType) -> Bool
  ) {
    self.format = format
    self.makeURL = url
    self.detectsEveryChange = detectsEveryChange
    self.writesSameBytes = writesSameBytes
    self.tellsModelVersion = tellsModelVersion
    self.options = options
    self.refuses = refuses
  }

  /// Describes a store whose class is its own format.
  public init(
    _ storeClass: any (AtomicStore & StoreClass).Type,
    detectsEveryChange: Bool,
    writesSameBytes: Bool,
    tellsModelVersion: Bool,
    options: @escaping @Sendable (_ model: ManagedObjectModel) -> StoreOptions,
    refuses: @escaping @Sendable (_ value: PropertyValue, _ type: AttributeType) -> Bool
  ) {
    self.init(
      AtomicClassFormat(storeClass),
      detectsEveryChange: detectsEveryChange,
      writesSameBytes: writesSameBytes,
      tellsModelVersion: tellsModelVersion,
      options: options,
      refuses: refuses
    )
  }

  /// Describes a store whose class is its own format.
  public init(
    _ storeClass: any (IncrementalStore & StoreClass).Type,
    detectsEveryChange: Bool,
    writesSameBytes: Bool,
    tellsModelVersion: Bool,
    options: @escaping @Sendable (_ model: ManagedObjectModel) -> StoreOptions,
    refuses: @escaping @Sendable (_ value: PropertyValue, _ type: AttributeType) -> Bool
  ) {
    self.init(
      IncrementalClassFormat(storeClass),
      detectsEveryChange: detectsEveryChange,
      writesSameBytes: writesSameBytes,
      tellsModelVersion: tellsModelVersion,
      options: options,
      refuses: refuses
    )
  }
}

extension StoreConformance {
  /// The type that is tested.
  public var type: StoreType { typeDescription.type }

  /// The cases, one for each behaviour that a store must have.
  public var cases: [ConformanceCase] {
    registrationCases + metadataCases + newStoreCases + attributeCases + referenceCases + orderCases + entityCases
      + relationshipCases + editingCases + sameBytesCases + atomicityCases + conflictCases + uniquenessCases
      + readOnlyCases + placeCases + queryCases + fetchCases + contextCases + concurrencyCases + conversionCases
      + migrationCases + historyCases + damageCases + randomGraphCases + piecemealCases
      + readFailureCases
  }

  var typeDescription: StoreTypeDescription { format.typeDescription }
  var capabilities: StoreCapabilities { typeDescription.capabilities }
  /// The description of the store's files; nil for stores that are not files.
  var fileFormat: (any FileFormat)? { isFile ? format as? any FileFormat : nil }

  /// Whether the stores are files.
  var isFile: Bool { capabilities.supports(.persistence) && makeURL == nil }

  /// Returns the URL of a store that is not a file; nil if stores are files. The case removes the store that it has
  /// made there.
  ///
  /// - Parameter folder: the folder of the case, which is unique.
  func url(_ name: String, in folder: String) -> URL? {
    guard let makeURL else { return nil }
    let letters = folder.utf8.filter { Character(Unicode.Scalar($0)).isHexDigit }.suffix(16)
    let url = makeURL("h\(String(decoding: letters, as: UTF8.self).lowercased())_\(name)")
    folders.note(url)
    return url
  }

  /// Whether the store opens its files itself, and not through a ``FileSystem``, so that they have to be on the disk.
  var reachesFilesItself: Bool { capabilities.kind == .incremental }

  /// Whether records have an order of their own. Those of an incremental store have the order of their numbers, or no
  /// order if their references are not numbers.
  var ordersRecords: Bool { !reachesFilesItself || capabilities.referenceKinds.first == .integer }

  /// Makes a place for files, in memory if possible.
  func makeDisk() throws -> ConformanceDisk { reachesFilesItself ? try makeFolder() : .memory() }

  /// Makes a place for files on the disk.
  func makeFolder() throws -> ConformanceDisk { .folder(try folders.make()) }

  /// Runs `body` with files in memory, if possible, and then with files on the disk, which a store may access without
  /// the framework.
  func withEachDisk(_ body: (ConformanceDisk) throws -> Void) throws {
    if !reachesFilesItself { try body(.memory()) }
    try body(try makeFolder())
  }

  /// Makes a case for this store.
  ///
  /// - Parameter requirements: the requirements that the store must have declared for `body` to run. Otherwise the
  ///   store has to refuse the first requirement that it lacks.
  func makeCase(
    _ name: String,
    needs requirements: ConformanceRequirement...,
    body: @escaping @Sendable (StoreConformance) throws -> Void
  ) -> ConformanceCase {
    let missing = requirements.first { !$0.isMet(by: self) }
    return ConformanceCase(name: name, storeType: type, requirements: requirements, missing: missing) {
      var conformance = self
      conformance.folders = ConformanceFolders()
      defer { conformance.folders.remove(format) }
      if let missing { try missing.expectRefusal(by: conformance) } else { try body(conformance) }
    }
  }
}
