import HeartwoodModel
import HeartwoodStore

extension PropertyValue: ExpressibleByStringLiteral {
  init(stringLiteral value: String) { self = .string(value) }
}

extension MetadataValue: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: MetadataValue...) { self = .array(elements) }
}
