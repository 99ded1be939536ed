/// What an inferred migration does where the new model leaves open what becomes of records.
///
/// By default it refuses, says how many records are concerned, and leaves the store as it is.
public struct MigrationResolutions: Sendable, Hashable {
  /// What becomes of records that have the same values where the new model wants them to be unique.
  public enum Duplicates: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// The first of them, in the order of the store, is kept; the others are deleted, and what led to them leads nowhere.
    case keepFirst
    /// The last of them is kept.
    case keepLast
  }

  /// What becomes of a relationship that leads to several objects where the new model has place for one.
  public enum SeveralObjects: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// It leads to the first of them.
    case keepFirst
  }

  /// What becomes of a value that has no form in the new type of its attribute.
  public enum UnfitValues: String, Sendable, Hashable, CaseIterable, Codable {
    /// The migration fails.
    case refuse
    /// It becomes the default value of the attribute, or nil where there is none.
    case useDefault
  }

  /// What becomes of records that have the same values where they are to be unique.
  public var duplicates: Duplicates
  /// What becomes of a relationship that leads to several objects where one is allowed.
  public var severalObjects: SeveralObjects
  /// What becomes of values that have no form in their new type.
  public var unfitValues: UnfitValues

  /// Without arguments everything is refused that is not clear.
  public init(
    duplicates: Duplicates = .refuse,
    severalObjects: SeveralObjects = .refuse,
    unfitValues: UnfitValues = .refuse
  ) {
    self.duplicates = duplicates
    self.severalObjects = severalObjects
    self.unfitValues = unfitValues
  }
}
