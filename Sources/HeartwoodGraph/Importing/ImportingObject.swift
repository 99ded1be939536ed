/// An object that has a say in how it is imported.
///
/// What the functions throw is a fault of the import, which is gathered with the others. They may change the object and others, which is
/// taken back where the import fails; they must not save.
public protocol ImportingObject: ManagedObject {
  /// Whether the object takes the values of a record. A new object that does not is gone.
  func shouldImport(_ record: ImportValue) throws -> Bool

  /// Called before the first value is set.
  func willImport(_ record: ImportValue) throws

  /// Takes the value of one property in its own way, and returns whether it has; otherwise the import does.
  func importValue(_ value: ImportValue, forKey name: String) throws -> Bool

  /// Called when all values are set, and those of the records in this one.
  func didImport(_ record: ImportValue) throws
}

extension ImportingObject {
  /// Every record is imported.
  public func shouldImport(_ record: ImportValue) throws -> Bool { true }

  /// Does nothing.
  public func willImport(_ record: ImportValue) throws {}

  /// Takes no value in its own way.
  public func importValue(_ value: ImportValue, forKey name: String) throws -> Bool { false }

  /// Does nothing.
  public func didImport(_ record: ImportValue) throws {}
}
