public import HeartwoodModel

extension PersistenceError {
  /// Where a failure happened. What does not apply is nil.
  public struct Context: Sendable {
    /// The path of the file, or of the store's file.
    public var path: String?
    /// Other files and folders that the failure is about, such as the model that a store was read with.
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
    /// What is wrong with them, where they are not fit to be saved (``PersistenceError/Code/validationFailed``).
    public var validationFaults: [ValidationFault]
    /// The records that another save has changed (``PersistenceError/Code/saveConflict``).
    public var mergeConflicts: [MergeConflict]
    /// The objects that have the same values as others (``PersistenceError/Code/constraintConflict``).
    public var constraintConflicts: [ConstraintConflict]
    /// What cannot be imported (``PersistenceError/Code/importFailed``).
    public var importFaults: [ImportFault]
    /// The system's error number, where a system call failed.
    public var systemError: Int32?

    /// Makes a context of what is known.
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

  /// A file or a folder beside the one that an error is about.
  public struct RelatedPath: Sendable, Hashable {
    /// What the file is to the failure, in words that stand before its path: `model`, `destination`.
    public var role: String
    /// The path.
    public var path: String

    /// Makes a path with the words that stand before it.
    public init(_ role: String, _ path: String) {
      self.role = role
      self.path = path
    }
  }
}
