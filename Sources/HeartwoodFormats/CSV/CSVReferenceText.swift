import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// References as text.
///
/// A UUID or a number stands for itself. A string has an apostrophe before it, unless the layout allows bare strings; then only
/// those have one that would read as something else.
struct CSVReferenceText: Sendable {
  private static let apostrophe = UInt8(ascii: "'")

  let allowsBareStrings: Bool

  /// The reference that `text` stands for, or nil where it stands for none.
  func reference(_ text: UnsafeRawBufferPointer) -> ReferenceID? {
    if allowsBareStrings { return ReferenceID(text: String(decoding: text, as: UTF8.self)) }
    if text.count == UUIDText.length, let base = text.baseAddress, let uuid = UUIDText.uuid(base) {
      return .uuid(UUID(uuid: uuid))
    }
    if text.first == Self.apostrophe { return .string(String(decoding: text.dropFirst(), as: UTF8.self)) }
    guard let number = IntegerText.integer(text), String(number).utf8.elementsEqual(text) else { return nil }
    return .integer(number)
  }

  /// Whether any text of 36 bytes that reads as a UUID is one.
  var takesEveryUUID: Bool { !allowsBareStrings }

  func text(_ reference: ReferenceID) -> String {
    guard case .string(let string) = reference, !allowsBareStrings else { return reference.text }
    return "'" + string
  }
}
