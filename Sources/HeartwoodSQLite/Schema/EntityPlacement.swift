package import HeartwoodModel

/// Where the records of an entity are kept in a file.
package struct EntityPlacement: Sendable {
  package let entity: EntityDescription
  /// The number in `Z_PRIMARYKEY` and in the column `Z_ENT`.
  package let number: Int
  /// The name of the topmost entity, whose row in `Z_PRIMARYKEY` has the greatest key of the whole table.
  package let rootName: String
  /// The number of that entity.
  package let rootNumber: Int
  /// The table of the topmost entity, with the records of all that inherit from it.
  package let tableName: String
  /// Indexed by the ordinal of the property; nil for those that no store keeps.
  package let properties: [PropertyPlacement?]
}
