public import Heartwood

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
/// Stores that save piecemeal, each an `IncrementalStore`, are tried on files on the disk, and stopped at each step of a save.
///
/// No question has a default: what a store cannot do is said, and never overlooked.
/// What the store has declared that it lacks is tried as well, and has to be refused with the right error.
public struct StoreConformance: Sendable {
  /// The class that is tested. It need not be registered anywhere.
  public internal(set) var storeClass: any StoreClass.Type
  /// Whether a file of which any byte has changed or is missing is always refused, as one with checksums is.
  public let detectsEveryChange: Bool
  /// Whether the same content is always the same bytes, so that files can be compared and kept in version control.
  public let writesSameBytes: Bool
  /// Whether a file tells with which version of its model it was written, as ``StoreMetadata/modelVersionHashes`` have it.
  public let tellsModelVersion: Bool
  var options: @Sendable (ManagedObjectModel) -> StoreOptions
  /// Where the folders of the case that runs are.
  private var folders = ConformanceFolders()
  let refuses: @Sendable (PropertyValue, AttributeType) -> Bool

  /// Describes a store.
  ///
  /// - Parameters:
  ///   - storeClass: the class of the store.
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
    _ storeClass: any StoreClass.Type,
    detectsEveryChange: Bool,
    writesSameBytes: Bool,
    tellsModelVersion: Bool,
    options: @escaping @Sendable (_ model: ManagedObjectModel) -> StoreOptions,
    refuses: @escaping @Sendable (_ value: PropertyValue, _ type: AttributeType) -> Bool
  ) {
    self.storeClass = storeClass
    self.detectsEveryChange = detectsEveryChange
    self.writesSameBytes = writesSameBytes
    self.tellsModelVersion = tellsModelVersion
    self.options = options
    self.refuses = refuses
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

  var typeDescription: StoreTypeDescription { storeClass.typeDescription }
  var capabilities: StoreCapabilities { typeDescription.capabilities }

  /// Whether the store opens its files itself, and not through the framework's ``FileSystem``: they have to be on the disk.
  var reachesFilesItself: Bool { capabilities.kind == .incremental }

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
      defer { conformance.folders.remove() }
      if let missing { try missing.expectRefusal(by: conformance) } else { try body(conformance) }
    }
  }
}
