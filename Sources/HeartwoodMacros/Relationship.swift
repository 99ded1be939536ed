public import Heartwood

/// Makes a property a relationship of the entity, with a typed key beside it: `listKey` of `list`.
///
/// An optional leads to one object at most; a `RelatedSet` to any number, and a `RelatedList` to any number in an order that is kept. An
/// array or a `Set` does as well, and is made anew each time.
///
///     @Relationship(inverse: \List.items) var list: List?                // in ToDo
///     @Relationship(deleteRule: .cascade) var items: RelatedSet<ToDo>    // in List
///
/// - Parameters:
///   - options: what is true of the relationship.
///   - name: the name in the model, a literal; that of the property without it.
///   - inverse: the property that leads back. Only one side names it: the compiler cannot follow two that name each other.
///   - deleteRule: what happens to the objects at the other end when an object is deleted.
///   - minCount: the least number of objects in a relationship to many; an optional one may be empty nevertheless.
///   - maxCount: the greatest number of objects that a relationship to many leads to; 0 means any number.
///   - renamedFrom: the name that the relationship had in the version of the model before this one.
///   - versionHashModifier: a text that changes the version hash, for a change that the description does not show.
///   - userInfo: notes by key.
@attached(accessor)
@attached(peer, names: suffixed(Key))
public macro Relationship(
  _ options: RelationshipOption...,
  name: String? = nil,
  inverse: AnyKeyPath? = nil,
  deleteRule: DeleteRule = .nullify,
  minCount: Int = 0,
  maxCount: Int = 0,
  renamedFrom: String? = nil,
  versionHashModifier: String? = nil,
  userInfo: [String: String] = [:]
) = #externalMacro(module: "HeartwoodMacroPlugin", type: "RelationshipMacro")

/// As the macro with a key path, with the name that the inverse has in the model: both sides may give it.
@attached(accessor)
@attached(peer, names: suffixed(Key))
public macro Relationship(
  _ options: RelationshipOption...,
  name: String? = nil,
  inverse: String,
  deleteRule: DeleteRule = .nullify,
  minCount: Int = 0,
  maxCount: Int = 0,
  renamedFrom: String? = nil,
  versionHashModifier: String? = nil,
  userInfo: [String: String] = [:]
) = #externalMacro(module: "HeartwoodMacroPlugin", type: "RelationshipMacro")

/// What is true of a relationship, for the macro `Relationship`.
public enum RelationshipOption: Sendable, Hashable, CaseIterable {
  /// The objects of an array have an order that is kept; those of a `RelatedList` have it anyway.
  case ordered
  /// An object must not be saved while the relationship is empty. A relationship to many needs a `minCount` for that: without one it may be empty.
  case required
  /// The relationship lives in memory only.
  case transient
  /// The inverse leads back to another relationship, as in some old models.
  case oneSidedInverse
}
