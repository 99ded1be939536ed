/// How records are imported.
public struct ImportOptions {
  /// Whether a to-many relationship leads to nothing but the imported objects afterwards. Otherwise, as with MagicalRecord, they are added
  /// to those that it leads to already.
  public var replacesToManyRelationships = false
  /// How many faults are gathered before the import ends.
  public var greatestFaultCount = 100
  /// Called in between with the number of records that have been imported so far, some hundreds apart. What it throws ends the import.
  public var progressHandler: ((Int) throws -> Void)?

  /// The usual options.
  public init() {}
}
