import HeartwoodModel

/// What one event did to the objects of a context.
struct GraphEvent {
  /// The objects that came, and were nothing before.
  var insertions: [ManagedObject] = []
  /// The objects that came back from their deletion.
  var revivals: [ManagedObject] = []
  /// The objects that went.
  var deletions: [ManagedObject] = []
  /// What became of the properties of all but those that are new.
  var edits: [PropertyEdit] = []

  var isEmpty: Bool { insertions.isEmpty && revivals.isEmpty && deletions.isEmpty && edits.isEmpty }
}

extension GraphEvent {
  /// The same event with other ids.
  func map(_ transform: (ManagedObjectID) -> ManagedObjectID) -> GraphEvent {
    var event = self
    event.edits = edits.map { $0.map(transform) }
    return event
  }

  /// What made the objects of today of `images`.
  init(since images: [ObjectImage]) {
    for image in images {
      switch (image.wasPresent, image.object.isPresent) {
      case (false, false): continue
      case (false, true) where image.isNew: insertions.append(image.object)
      case (false, true): revivals.append(image.object)
      case (true, false): deletions.append(image.object)
      case (true, true): break
      }
      for (ordinal, property) in image.properties.sorted(by: { $0.key < $1.key }) {
        if let edit = PropertyEdit(image.object, ordinal, since: property) { edits.append(edit) }
      }
    }
  }
}
