public import Heartwood

/// Generates the description of an entity from a class, so that a model can be made of classes.
///
///     @Entity final class ToDo: ManagedObject {
///       @Attribute var memo: String = ""
///       @Attribute(.indexed) var due: Date?
///       @Relationship(inverse: \List.items) var list: List?
///     }
///
///     @Entity final class List: ManagedObject {
///       @Attribute(.unique) var name: String = ""
///       @Relationship(deleteRule: .cascade) var items: RelatedSet<ToDo>
///     }
///
///     let model = try ManagedObjectModel(of: [ToDo.self, List.self])
///
/// The macro overrides `entityName`, `entityDefinition` and `propertyName(forKeyPath:)`; you could write the same code
/// by hand. A class that inherits from the class of another entity is a subentity. Properties without `@Attribute` or
/// `@Relationship` are ordinary Swift properties and are not part of the graph.
///
/// The compiler reports an error, with a fix-it if there is only one correction, if the declaration is not a class, if
/// the class has no superclass, or if a property of the entity is declared within `#if`. Mistakes that only a whole
/// model shows, such as an inverse that does not exist, are thrown by `ManagedObjectModel(of:)` as a
/// `ModelValidationError`.
///
/// - Parameters:
///   - name: the name of the entity, a string literal. By default, it is the name of the class.
///   - abstract: whether objects belong to subentities only, and never to this entity itself.
///   - unique: groups of attributes, by their names in the model. No two objects may have the same values in all
///     attributes of a group. For a single attribute, write `@Attribute(.unique)`.
///   - indexes: the indexes with which stores find objects fast. For a single attribute, write `@Attribute(.indexed)`.
///   - fetchedProperties: the properties whose objects are fetched.
///   - compositeAttributes: the attributes that consist of other attributes of the entity.
///   - renamedFrom: the name of the entity in the previous version of the model, if it was renamed.
///   - versionHashModifier: a text that changes the version hash, for a change that is not visible in the description.
///   - userInfo: the author's own notes, by key.
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

/// Makes a property an attribute of the entity, and adds a typed key for it, such as `memoKey` for `memo`.
///
///     @Attribute(.unique, renamedFrom: "title") var memo: String = ""
///     @Attribute(minValue: 1, maxValue: 5) var priority: Int16 = 3
///     @Attribute(transformer: "ColorTransformer") var color: Color?
///     @Attribute(derivedFrom: "items.@count") var count: Int?
///
/// The attribute gets the type of the property: numbers, `String`, `Bool`, `Date`, `Data`, `UUID`, `URL`, an
/// enumeration with raw values that conforms to `AttributeValue`, a type that conforms to `CodableAttributeValue`, and
/// optionals of them. An attribute that is not optional must have a value when it is saved. The initial value is the
/// default value of the model, and the same for all objects; set a value that differs from object to object in
/// `awakeFromInsert()`.
///
/// The compiler reports an error if the property is a `let`, has no written type or has accessors of its own, if the
/// initial value would differ each time, as `UUID()` does, or if a derived or transformed attribute has an initial
/// value.
///
/// You can use the macro without `@Entity`, too, in a class whose entity comes from a model file.
///
/// - Parameters:
///   - options: further traits of the attribute, each written as `.name`.
///   - name: the name in the model, a string literal. By default, it is the name of the property.
///   - type: the type in the model. By default, it is the one that fits the Swift type best, such as `integer64` for
///     `Int`.
///   - minValue: the least value.
///   - maxValue: the greatest value.
///   - minLength: the least length of a string, in UTF-16 code units.
///   - maxLength: the greatest length of a string, in UTF-16 code units.
///   - pattern: the regular expression that a whole string must match.
///   - predicates: conditions that a value must meet.
///   - transformer: the name under which a transformer is registered with `AttributeTransformers`. It converts the
///     value to and from bytes. The type of the property must be optional.
///   - derivedFrom: the expression from which a save computes the value. The property is read-only.
///   - renamedFrom: the name of the attribute in the previous version of the model, if it was renamed.
///   - versionHashModifier: a text that changes the version hash, for a change that is not visible in the description.
///   - userInfo: the author's own notes, by key.
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

/// A trait of an attribute, for
/// ``Attribute(_:name:type:minValue:maxValue:minLength:maxLength:pattern:predicates:transformer:derivedFrom:renamedFrom:versionHashModifier:userInfo:)``.
public enum AttributeOption: Sendable, Hashable, CaseIterable {
  /// No two objects may have the same value.
  case unique
  /// The values are indexed, so that objects are found by them fast.
  case indexed
  /// An object may be saved without a value although the Swift type is not optional. The property then returns zero,
  /// false or an empty value.
  case optional
  /// An object cannot be saved without a value although the Swift type is optional.
  case required
  /// The value exists in memory only, and no store keeps it.
  case transient
  /// A store may keep large data in separate files.
  case externalStorage
  /// The tombstone of a deleted object keeps the value.
  case preservedOnDeletion
}

// MARK: Relationship

/// Makes a property a relationship of the entity, and adds a typed key for it, such as `listKey` for `list`.
///
///     @Relationship(inverse: \List.items) var list: List?                // in ToDo
///     @Relationship(deleteRule: .cascade) var items: RelatedSet<ToDo>    // in List
///
/// An optional refers to at most one object, a `RelatedSet` to any number of objects, and a `RelatedList` to any number
/// of objects in an order that is kept. An array or a `Set` is possible, too, and is made again at each access, in time
/// linear in the number of objects. Reading a relationship may read from the store, as described for `ManagedObject`.
///
/// The compiler reports an error if the property is neither an optional nor a collection, if a collection is optional,
/// or if there is an initial value other than nil or an empty collection.
///
/// - Parameters:
///   - options: further traits of the relationship, each written as `.name`.
///   - name: the name in the model, a string literal. By default, it is the name of the property.
///   - inverse: the property at the other end that refers back. Only one side names it by a key path: the compiler
///     cannot follow two that name each other.
///   - deleteRule: what happens to the related objects when an object is deleted.
///   - minCount: the least number of objects in a to-many relationship. An optional relationship may be empty
///     nevertheless.
///   - maxCount: the greatest number of objects in a to-many relationship; 0 means any number.
///   - renamedFrom: the name of the relationship in the previous version of the model, if it was renamed.
///   - versionHashModifier: a text that changes the version hash, for a change that is not visible in the description.
///   - userInfo: the author's own notes, by key.
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

/// Makes a property a relationship, like the macro that takes a key path, and takes the name of the inverse in the
/// model. Both sides may name each other.
///
///     @Relationship(inverse: "items") var list: List?               // in ToDo
///     @Relationship(inverse: "list") var items: RelatedSet<ToDo>    // in List
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

/// A trait of a relationship, for the macro `Relationship`.
public enum RelationshipOption: Sendable, Hashable, CaseIterable {
  /// The order of the objects in an array is kept. A `RelatedList` always keeps it.
  case ordered
  /// An object cannot be saved while the relationship is empty. A to-many relationship also needs a `minCount` of at
  /// least 1; without one, it may be empty.
  case required
  /// The relationship exists in memory only, and no store keeps it.
  case transient
  /// The inverse refers back to another relationship, as in some old models.
  case oneSidedInverse
}
