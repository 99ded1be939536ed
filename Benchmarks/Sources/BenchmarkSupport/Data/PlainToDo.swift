/// What a managed object's property is compared with: a stored property of a class of another module.
///
/// It is open, so that the compiler reads and writes it one object at a time. Properties that it can see into are read by the vector
/// instruction, eight at once, which says nothing about the cost of one.
open class PlainToDo {
  open var sortOrder: Int64

  /// Makes one with a value.
  public init(sortOrder: Int64) {
    self.sortOrder = sortOrder
  }
}
