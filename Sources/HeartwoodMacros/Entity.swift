public import Heartwood

/// Makes the class of an entity describe it, so that a model can be made of classes:
///
///     @Entity final class ToDo: ManagedObject {
///       @Attribute var memo: String = ""
///       @Attribute(.indexed) var due: Date?
///       @Relationship(inverse: \List.items) var list: List?
///     }
///     let model = try ManagedObjectModel(of: [ToDo.self, List.self])
///
/// The macro overrides `entityName`, `entityDefinition` and `propertyName(forKeyPath:)`; what it writes could be written by hand. A class
/// that inherits from that of another entity is a subentity. Properties without `@Attribute` or `@Relationship` are the class's own
/// affair: the graph knows nothing of them.
///
/// - Parameters:
///   - name: the name of the entity; that of the class without it.
///   - abstract: whether there are objects of subentities only.
///   - unique: groups of attributes, by their names in the model; no two objects have the same values in all attributes of a group.
///     For single ones write `@Attribute(.unique)`.
///   - indexes: by which values objects shall be found fast. For single attributes write `@Attribute(.indexed)`.
///   - fetchedProperties: the properties whose objects are fetched.
///   - compositeAttributes: which attributes belong together.
///   - renamedFrom: the name that the entity had in the version of the model before this one.
///   - versionHashModifier: a text that changes the version hash, for a change that the description does not show.
///   - userInfo: notes by key.
@attached(member, names: named(entityName), named(entityDefinition), named(propertyName(forKeyPath:)))
public macro Entity(
  _ name: String? = nil,
  abstract: Bool = false,
  unique: [[String]] = [],
  indexes: [FetchIndexDescription] = [],
  fetchedProperties: [FetchedPropertyDescription] = [],
  compositeAttributes: [CompositeAttributeDescription] = [],
  renamedFrom: String? = nil,
  versionHashModifier: String? = nil,
  userInfo: [String: String] = [:]
) = #externalMacro(module: "HeartwoodMacroPlugin", type: "EntityMacro")

// MARK: Attribute

/// Makes a property an attribute of the entity, with a typed key beside it: `memoKey` of `memo`.
///
/// The property's type is that of the attribute: numbers, `String`, `Bool`, `Date`, `Data`, `UUID`, `URL`, an enumeration with raw values
/// that is an `AttributeValue`, a `CodableAttributeValue`, and optionals of them. What is not optional must have a value when it is saved.
/// The initial value is the default of the model, the same for all objects.
///
///     @Attribute(.unique, renamedFrom: "title") var memo: String = ""
///     @Attribute(minValue: 1, maxValue: 5) var priority: Int16 = 3
///     @Attribute(transformer: "ColorTransformer") var color: Color?
///     @Attribute(derivedFrom: "items.@count") var count: Int?
///
/// The accessors need no model that is made of classes: the macro is of use also in a class whose entity comes from a model file.
///
/// - Parameters:
///   - options: what is true of the attribute.
///   - name: the name in the model, a literal; that of the property without it.
///   - type: how it is kept; what fits the Swift type best without it, which is `integer64` for an `Int`.
///   - minValue: the least value.
///   - maxValue: the greatest value.
///   - minLength: the least length of a string, in UTF-16 code units.
///   - maxLength: the greatest length of a string, in UTF-16 code units.
///   - pattern: the regular expression that a string matches as a whole.
///   - predicates: conditions that values have to meet.
///   - transformer: the name under which a transformer is registered with `AttributeTransformers`, which makes the value of bytes.
///   - derivedFrom: the expression that the value is computed by when an object is saved. The property can be read only.
///   - renamedFrom: the name that the attribute had in the version of the model before this one.
///   - versionHashModifier: a text that changes the version hash, for a change that the description does not show.
///   - userInfo: notes by key.
@attached(accessor)
@attached(peer, names: suffixed(Key))
public macro Attribute(
  _ options: AttributeOption...,
  name: String? = nil,
  type: AttributeType? = nil,
  minValue: (any AttributeValue)? = nil,
  maxValue: (any AttributeValue)? = nil,
  minLength: Int? = nil,
  maxLength: Int? = nil,
  pattern: String? = nil,
  predicates: [ValidationPredicate] = [],
  transformer: String? = nil,
  derivedFrom: String? = nil,
  renamedFrom: String? = nil,
  versionHashModifier: String? = nil,
  userInfo: [String: String] = [:]
) = #externalMacro(module: "HeartwoodMacroPlugin", type: "AttributeMacro")

/// What is true of an attribute, for ``Attribute(_:name:type:minValue:maxValue:minLength:maxLength:pattern:predicates:transformer:derivedFrom:renamedFrom:versionHashModifier:userInfo:)``.
public enum AttributeOption: Sendable, Hashable, CaseIterable {
  /// No two objects have the same value.
  case unique
  /// Objects are found fast by the value.
  case indexed
  /// An object may be saved without a value, though the Swift type has no nil: it is then zero, false or empty.
  case optional
  /// An object must not be saved without a value, though the Swift type has nil.
  case required
  /// The value lives in memory only.
  case transient
  /// A store may keep large data in files beside its own.
  case externalStorage
  /// The value is kept in the tombstone of a deleted object.
  case preservedOnDeletion
}

// MARK: Relationship

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
