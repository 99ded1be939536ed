public import HeartwoodModel

extension PersistenceError {
  /// The place of a failure, and the objects that are involved. Properties that do not apply are nil or empty.
  public struct Context: Sendable {
    /// The path of the file, or of the store's file.
    public var path: String?
    /// Other files and folders that are involved in the failure, such as the model that a store was read with.
    public var relatedPaths: [RelatedPath]
    /// The line in a text file, counted from 1.
    public var line: Int?
    /// The character in the line, counted from 1.
    public var column: Int?
    /// The byte in the file, counted from 0.
    public var byteOffset: Int?
    /// The type of the store concerned.
    public var storeType: StoreType?
    /// The name of the entity concerned.
    public var entity: String?
    /// The name of the property concerned.
    public var property: String?
    /// The objects concerned.
    public var objectIDs: [ManagedObjectID]
    /// The faults of objects that are not valid (``PersistenceError/Code/validationFailed``).
    public var validationFaults: [ValidationFault]
    /// The records that another save has changed (``PersistenceError/Code/saveConflict``).
    public var mergeConflicts: [MergeConflict]
    /// The objects that have the same unique values as others (``PersistenceError/Code/constraintConflict``).
    public var constraintConflicts: [ConstraintConflict]
    /// The faults of data that cannot be imported (``PersistenceError/Code/importFailed``).
    public var importFaults: [ImportFault]
    /// The system's error number (`errno`), if a system call failed.
    public var systemError: Int32?

    /// Creates a context from what is known.
    public init(
      path: String? = nil,
      relatedPaths: [RelatedPath] = [],
      line: Int? = nil,
      column: Int? = nil,
      byteOffset: Int? = nil,
      storeType: StoreType? = nil,
      entity: String? = nil,
      property: String? = nil,
      objectIDs: [ManagedObjectID] = [],
      validationFaults: [ValidationFault] = [],
      mergeConflicts: [MergeConflict] = [],
      constraintConflicts: [ConstraintConflict] = [],
      importFaults: [ImportFault] = [],
      systemError: Int32? = nil
    ) {
      self.path = path
      self.relatedPaths = relatedPaths
      self.line = line
      self.column = column
      self.byteOffset = byteOffset
      self.storeType = storeType
      self.entity = entity
      self.property = property
      self.objectIDs = objectIDs
      self.validationFaults = validationFaults
      self.mergeConflicts = mergeConflicts
      self.constraintConflicts = constraintConflicts
      self.importFaults = importFaults
      self.systemError = systemError
    }
  }

  /// A file or a folder that is involved in a failure, in addition to the context's own.
  public struct RelatedPath: Sendable, Hashable {
    /// The role of the file in the failure, in words that are written before its path: `model`, `destination`.
    public var role: String
    /// The path.
    public var path: String

    /// Creates a path with the words that are written before it.
    public init(_ role: String, _ path: String) {
      self.role = role
      self.path = path
    }
  }
}
