public import Heartwood
public import HeartwoodFoundation
import HeartwoodStore

/// What the author of a store tells the conformance kit about it.
///
/// The kit derives the rest from the ``StoreCapabilities`` that the store declares. Every behaviour is a case, a value that runs
/// with any test library. With Swift Testing:
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
/// Stores that save piecemeal, each an `IncrementalStore`, are tried on files on the disk, and stopped at each step of a save. A store that is
/// no file is described with its format and with URLs; the cases that are about files are left to others.
///
/// No question has a default: what a store cannot do is said, and never overlooked.
/// What the store has declared that it lacks is tried as well, and has to be refused with the right error.
public struct StoreConformance: Sendable {
  /// The format that is tested. It need not be registered anywhere.
  public internal(set) var format: any StoreFormat
  /// Whether a file of which any byte has changed or is missing is always refused, as one with checksums is.
  public let detectsEveryChange: Bool
  /// Whether the same content is always the same bytes, so that files can be compared and kept in version control.
  public let writesSameBytes: Bool
  /// Whether a file tells with which version of its model it was written, as ``StoreMetadata/modelVersionHashes`` have it.
  public let tellsModelVersion: Bool
  var options: @Sendable (ManagedObjectModel) -> StoreOptions
  /// Makes the URL of a store from a name; nil for stores that are files, or have no place.
  private let makeURL: (@Sendable (String) -> URL)?
  /// Where the folders of the case that runs are.
  private var folders = ConformanceFolders()
  let refuses: @Sendable (PropertyValue, AttributeType) -> Bool

  /// Describes a store.
  ///
  /// - Parameters:
  ///   - format: what makes the store.
  ///   - url: makes the URL of a store from a name of small letters, digits and underscores that no other store has; nil for stores that are
  ///     files, or have no place. The kit removes what it has made there: `IncrementalStoreFormat.removeStore(at:options:)`.
  ///   - detectsEveryChange: whether a file of which any byte has changed or is missing is always refused. A store that says no
  ///     may load a damaged file as something else, but must not trap.
  ///   - writesSameBytes: whether the same content is always the same bytes. Encryption, for one, must not be so: an atomic store that
  ///     says no has to write others each time.
  ///   - tellsModelVersion: whether a file tells with which version of its model it was written, in
  ///     ``StoreMetadata/modelVersionHashes``. One that does not is opened with any version that its records fit, and no migration of
  ///     it is tried.
  ///   - options: makes the options that a store of a model is opened with.
  ///   - refuses: which values of the attribute types that the store declares it cannot hold all the same. They have to be refused
  ///     with ``PersistenceError/Code/valueUnsupported``; every other value has to come back as it was.
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

  /// A case for each behaviour that a store must have.
  public var cases: [ConformanceCase] {
    registrationCases + metadataCases + newStoreCases + attributeCases + referenceCases + orderCases + entityCases
      + relationshipCases + editingCases + sameBytesCases + atomicityCases + conflictCases + uniquenessCases
      + readOnlyCases + placeCases + queryCases + fetchCases + contextCases + concurrencyCases + conversionCases
      + migrationCases + historyCases + damageCases + randomGraphCases + piecemealCases
      + readFailureCases
  }

  var typeDescription: StoreTypeDescription { format.typeDescription }
  var capabilities: StoreCapabilities { typeDescription.capabilities }
  /// What is known of the files of stores; nil for stores that are none.
  var fileFormat: (any FileFormat)? { isFile ? format as? any FileFormat : nil }

  /// Whether stores are files.
  var isFile: Bool { capabilities.supports(.persistence) && makeURL == nil }

  /// The URL of a store that is no file; nil if stores are files. The case removes what it has made there.
  ///
  /// - Parameter folder: the folder of the case, which no other case has.
  func url(_ name: String, in folder: String) -> URL? {
    guard let makeURL else { return nil }
    let letters = folder.utf8.filter { Character(Unicode.Scalar($0)).isHexDigit }.suffix(16)
    let url = makeURL("h\(String(decoding: letters, as: UTF8.self).lowercased())_\(name)")
    folders.note(url)
    return url
  }

  /// Whether the store opens its files itself, and not through the framework's ``FileSystem``: they have to be on the disk.
  var reachesFilesItself: Bool { capabilities.kind == .incremental }

  /// Whether records have an order by themselves: a store that saves them piecemeal has them in that of their numbers, and in none if it calls them
  /// otherwise.
  var ordersRecords: Bool { !reachesFilesItself || capabilities.referenceKinds.first == .integer }

  /// A place for files: in memory where that can be.
  func makeDisk() throws -> ConformanceDisk { reachesFilesItself ? try makeFolder() : .memory() }

  /// A place for files on the disk.
  func makeFolder() throws -> ConformanceDisk { .folder(try folders.make()) }

  /// Runs `body` with files in memory, where that can be, and then with files on the disk, where a store may do what the framework does
  /// not see.
  func withEachDisk(_ body: (ConformanceDisk) throws -> Void) throws {
    if !reachesFilesItself { try body(.memory()) }
    try body(try makeFolder())
  }

  /// A case of this store.
  ///
  /// - Parameter requirements: what the store must have declared for `body` to run. Otherwise the first that it lacks has to be
  ///   refused.
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
