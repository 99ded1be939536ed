public import Heartwood

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
