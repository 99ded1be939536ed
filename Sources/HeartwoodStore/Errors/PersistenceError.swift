public import HeartwoodModel

/// What went wrong while persisting: what, where, and what to do about it.
///
/// Match the code in a `catch`:
///
///     do { try context.save() } catch let error as PersistenceError where error.code == .fileChangedOnDisk { … }
public struct PersistenceError: Error, Sendable {
  /// What kind of failure it is.
  public var code: Code
  /// What happened and what to do, for a person. It holds no values of records.
  public var message: String
  /// Where it happened, as far as that is known.
  public var context: Context
  /// The error that caused this one.
  public var underlyingError: (any Error)?

  /// Makes an error of a code, with a message that says what happened and what to do.
  public init(_ code: Code, _ message: String, context: Context = Context(), underlyingError: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.context = context
    self.underlyingError = underlyingError
  }

  /// The error, with the file and the type of store of whoever passes it on, where it names none.
  package func locating(path: String?, storeType: StoreType? = nil) -> PersistenceError {
    var error = self
    error.context.path = context.path ?? path
    error.context.storeType = context.storeType ?? storeType
    return error
  }

  /// The same error, with `path` for the file where it names `temporary`, which is to become that file.
  func relocating(from temporary: String, to path: String) -> PersistenceError {
    var error = self
    if context.path == temporary { error.context.path = path }
    return error
  }
}

extension PersistenceError {
  /// Where a failure happened. What does not apply is nil.
  public struct Context: Sendable {
    /// The path of the file, or of the store's file.
    public var path: String?
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
}

extension PersistenceError: CustomStringConvertible {
  /// One line: `path:line:column: message (entity.property, at byte 7)`.
  public var description: String {
    let details = context.details
    var text = context.place + message
    if !details.isEmpty { text += " (\(details.joined(separator: ", ")))" }
    if let underlyingError { text += " [\(underlyingError)]" }
    return text
  }
}

extension PersistenceError.Context {
  /// Where in which file it happened, as compilers write it; empty where that is not known.
  fileprivate var place: String {
    var parts = path.map { [$0] } ?? []
    if let line { parts.append(path == nil ? "line \(line)" : "\(line)") }
    if let column, line != nil { parts.append("\(column)") }
    return parts.isEmpty ? "" : parts.joined(separator: ":") + ": "
  }

  fileprivate var details: [String] {
    var details: [String] = []
    if let byteOffset { details.append("at byte \(byteOffset)") }
    switch (entity, property) {
    case (let entity?, let property?): details.append("\(entity).\(property)")
    case (let entity?, nil): details.append("entity \(entity)")
    case (nil, let property?): details.append("property \(property)")
    case (nil, nil): break
    }
    return details
  }
}
