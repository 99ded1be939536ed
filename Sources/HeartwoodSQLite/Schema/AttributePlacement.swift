/// A column with the values of an attribute.
package struct AttributePlacement: Sendable, Hashable {
  package let column: String
  package let storage: AttributeStorage
}
