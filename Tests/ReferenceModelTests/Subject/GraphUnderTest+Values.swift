import HeartwoodGraph
import HeartwoodModel

/// Values of the graph under test as the reference has them.
extension GraphUnderTest {
  func committedValues(_ object: ManagedObject) throws(Mismatch) -> [String: ReferenceValue] {
    try shaped(object.committedValues(), object.entity)
  }

  func shaped(
    _ values: [String: PropertyValue],
    _ entity: EntityDescription
  ) throws(Mismatch) -> [String: ReferenceValue] {
    var result: [String: ReferenceValue] = [:]
    for (name, value) in values {
      guard let property = entity.property(named: name) else {
        throw Mismatch("\(entity.name) has no property \(name)")
      }
      result[name] = try shaped(value, property)
    }
    return result
  }

  func shaped(_ value: PropertyValue, _ property: PropertyDescription) throws(Mismatch) -> ReferenceValue {
    guard property.relationship != nil else { return .attribute(value) }
    let ids = value.objectIDs
    var keys: [Key] = []
    for id in ids {
      guard let key = key(of: id) else {
        throw Mismatch("\(property.name) leads to \(id), which nobody has made")
      }
      keys.append(key)
    }
    guard Set(keys).count == keys.count else { throw Mismatch("\(property.name) leads to an object twice: \(keys)") }
    return ReferenceValue.empty(property).replacingKeys(by: keys)
  }
}
