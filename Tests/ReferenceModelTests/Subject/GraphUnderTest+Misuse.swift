import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

extension GraphUnderTest {
  /// The object that another is misused with.
  func misused(_ misuse: Misuse, _ key: Key, _ context: Int) throws -> ManagedObject? {
    guard misuse.isOfRelationship else { return nil }
    return try object(key, misuse == .foreignObject ? (context + 1) % contexts.count : context)
  }

  func perform(
    _ misuse: Misuse,
    _ object: ManagedObject,
    _ name: String,
    _ other: ManagedObject?
  ) throws -> Outcome {
    let property = misuse.isOfRelationship ? try property(name, of: object) : nil
    do throws(PersistenceError) {
      switch misuse {
      case .unknownProperty: try object.setPropertyValue(.null, forKey: "nothing")
      case .wrongType:
        try object.setPropertyValue(.toMany([]), forKey: object.entity.attributes.first?.name ?? "nothing")
      case .wrongEntity, .foreignObject, .deletedObject:
        let isToMany = property?.relationship?.isToMany == true
        try object.setValue(isToMany ? [other].compactMap(\.self) : other, forKey: name)
      }
      return .done
    } catch {
      return .refused(error.code)
    }
  }
}
