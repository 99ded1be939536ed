import HeartwoodStore

/// A property of the records of a group, as they are written: its key in the file, and where its values are.
///
/// The group is held for as long as this is: the view does not hold it.
struct PropertyListCell<Key> {
  let key: Key
  let content: PropertyListSchema.Property.Content
  let view: ColumnView
  let column: Column

  init(_ property: PropertyListSchema.Property, of group: RowGroup, key: Key) {
    self.key = key
    content = property.content
    view = group.unsafeViews[property.ordinal]
    column = group.columns[property.ordinal]
  }
}
