import HeartwoodModel
public import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ImportValue {
  /// A value as Swift and other parsers have it: numbers, strings, dates, data, UUIDs and URLs, arrays of them, and dictionaries whose
  /// keys are strings; nil and `NSNull` are ``null``.
  ///
  /// - Throws: ``PersistenceError/Code/importFailed`` where there is something else, or where it is deeper than ``greatestDepth``, with
  ///   the place.
  public init(_ value: Any?) throws(PersistenceError) {
    try self.init(value, at: .root)
  }

  init(_ value: Any?, at place: ImportPlace) throws(PersistenceError) {
    if place.depth > Self.greatestDepth { throw PersistenceError.importFailed([.tooDeep(place)]) }
    guard let value else {
      self = .null
      return
    }
    if let plain = ImportValue(plain: value) {
      self = plain
    } else if let members = value as? [String: Any] {
      var object: [String: ImportValue] = [:]
      for (key, member) in members { object[key] = try ImportValue(member, at: .member(place, key)) }
      self = .object(object)
    } else if let elements = value as? [Any] {
      var array: [ImportValue] = []
      for (index, element) in elements.enumerated() {
        array.append(try ImportValue(element, at: .element(place, index)))
      }
      self = .array(array)
    } else {
      throw PersistenceError.importFailed([
        ImportFault(path: place.description, "A value of type \(type(of: value)) is here, which cannot be imported.")
      ])
    }
  }

  /// A value that has no parts; nil for others.
  private init?(plain value: Any) {
    if let value = value as? ImportValue {
      self = value
    } else if (value as? any OptionalValue)?.isNone == true {
      self = .null
    } else if let value = value as? any AttributeValue {
      let value = value.propertyValue
      self = value.isNull ? .null : .scalar(value)
    } else if let number = value as? any BinaryInteger {
      self = Int64(exactly: number).map { .scalar(.integer($0)) } ?? .number("\(number)")
    } else if String(describing: type(of: value)) == "NSNull" {
      self = .null
    } else if let value = Self.bridged(value) {
      self = .scalar(value)
    } else {
      return nil
    }
  }

  /// The value of one of Foundation's objects; nil for others. A number is the first that holds all of it.
  private static func bridged(_ object: Any) -> PropertyValue? {
    if let number = object as? Int64 { return .integer(number) }
    if let number = object as? Double { return .double(number) }
    if let text = object as? String { return .string(text) }
    if let date = object as? Date { return .date(date) }
    if let data = object as? Data { return .binary(data) }
    if let uuid = object as? UUID { return .uuid(uuid) }
    return (object as? URL).map(PropertyValue.uri)
  }
}

/// An optional of any type, in the disguise of a value that is there.
private protocol OptionalValue {
  var isNone: Bool { get }
}

extension Optional: OptionalValue {
  fileprivate var isNone: Bool {
    if case .none = self { true } else { false }
  }
}
