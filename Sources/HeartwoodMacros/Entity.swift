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
