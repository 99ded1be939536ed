import Foundation
import HeartwoodModel

/// Translates between the values that stores keep and those that key-value coding gives: `NSNumber`, `String`, `Date`
/// and so on. Relationships are translated by the context.
enum StoredValue {
  /// The transformers whose work this module does: they archive the object.
  private static let archivers: Set<String> = [
    "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromDataTransformerName",
    "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName",
  ]

  /// Returns the application's own transformer of a name; nil for those whose work this module does.
  private static func transformer(_ name: String?) -> ValueTransformer? {
    guard let name, !name.isEmpty else { return nil }
    if let own = ValueTransformer.named(NSValueTransformerName(name)) { return own }
    ProgrammerError.check(
      archivers.contains(name),
      "There is no transformer called \(name). Register it with ValueTransformer.setValueTransformer(_:forName:)."
    )
    return nil
  }

  /// Returns what key-value coding gives for the stored value of an attribute; nil for no value.
  static func object(_ value: PropertyValue, of attribute: AttributeDescription) -> Any? {
    object(value, attribute.type, attribute.valueTransformerName)
  }

  /// Returns the stored form of a value for an attribute; nil if it is of another type.
  static func propertyValue(_ value: Any, of attribute: AttributeDescription) -> PropertyValue? {
    propertyValue(value, attribute.type, attribute.valueTransformerName)
  }

  /// Returns what key-value coding gives for a stored value; nil for no value.
  ///
  /// - Parameter transformer: the name of the transformer of a transformable attribute.
  static func object(_ value: PropertyValue, _ type: AttributeType, _ transformer: String? = nil) -> Any? {
    switch value {
    case .null, .toOne, .toMany: nil
    case .integer(let number): integer(number, type)
    case .decimal(let number): NSDecimalNumber(decimal: number)
    case .double(let number): NSNumber(value: number)
    case .float(let number): NSNumber(value: number)
    case .boolean(let flag): NSNumber(value: flag)
    case .string(let text): text
    case .date(let date): date
    case .binary(let data): type == .transformable ? unarchived(data, transformer) : data
    case .uuid(let uuid): uuid
    case .uri(let url): url
    }
  }

  private static func integer(_ number: Int64, _ type: AttributeType) -> NSNumber {
    switch type {
    case .integer16: Int16(exactly: number).map(NSNumber.init) ?? NSNumber(value: number)
    case .integer32: Int32(exactly: number).map(NSNumber.init) ?? NSNumber(value: number)
    default: NSNumber(value: number)
    }
  }

  /// Returns the stored form of a value for an attribute of `type`; nil if it is of another type.
  ///
  /// - Parameter transformer: the name of the transformer of a transformable attribute.
  static func propertyValue(_ value: Any, _ type: AttributeType, _ transformer: String? = nil) -> PropertyValue? {
    if value is NSNull { return .null }
    switch type {
    case .integer16, .integer32, .integer64: return number(value).map { .integer($0.int64Value) }
    case .boolean: return number(value).map { .boolean($0.boolValue) }
    case .double: return number(value).map { .double($0.doubleValue) }
    case .float: return number(value).map { .float($0.floatValue) }
    case .decimal: return decimal(value).map(PropertyValue.decimal)
    case .string: return (value as? String ?? (value as? NSString).map { $0 as String }).map(PropertyValue.string)
    case .date: return (value as? Date ?? (value as? NSDate).map { $0 as Date }).map(PropertyValue.date)
    case .binary: return (value as? Data ?? (value as? NSData).map { $0 as Data }).map(PropertyValue.binary)
    case .uuid: return (value as? UUID ?? (value as? NSUUID).map { $0 as UUID }).map(PropertyValue.uuid)
    case .uri: return (value as? URL ?? (value as? NSURL).map { $0 as URL }).map(PropertyValue.uri)
    case .transformable: return archived(value, transformer).map(PropertyValue.binary)
    case .undefined: return anyValue(value)
    }
  }

  /// Returns the stored form of a value whose attribute is not known.
  static func anyValue(_ value: Any) -> PropertyValue? {
    let types: [AttributeType] = [.string, .date, .binary, .uuid, .uri]
    for type in types {
      if let stored = propertyValue(value, type) { return stored }
    }
    if let decimal = value as? Decimal { return .decimal(decimal) }
    if let decimal = value as? NSDecimalNumber { return .decimal(decimal.decimalValue) }
    if let flag = value as? Bool, !(value is any BinaryInteger), isBoolean(value) { return .boolean(flag) }
    return number(value).map { isFraction($0) ? .double($0.doubleValue) : .integer($0.int64Value) }
  }

  private static func isBoolean(_ value: Any) -> Bool {
    if type(of: value) == Bool.self { return true }
    // Foundation keeps the type of what a number was made of.
    return (value as? NSNumber).map { $0.objCType.pointee == CChar(bitPattern: UInt8(ascii: "c")) } ?? false
  }

  private static func isFraction(_ number: NSNumber) -> Bool {
    [UInt8(ascii: "d"), UInt8(ascii: "f")].contains(UInt8(bitPattern: number.objCType.pointee))
  }

  private static func number(_ value: Any) -> NSNumber? { value as? NSNumber }

  private static func decimal(_ value: Any) -> Decimal? {
    if let decimal = value as? Decimal { return decimal }
    if let decimal = value as? NSDecimalNumber { return decimal.decimalValue }
    return number(value)?.decimalValue
  }

  private static func archived(_ value: Any, _ name: String?) -> Data? {
    if let transformer = transformer(name) { return transformer.stored(value) }
    // try?: an object that cannot be archived is not of the attribute's type.
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
  }

  private static func unarchived(_ data: Data, _ name: String?) -> Any? {
    if let transformer = transformer(name) { return transformer.value(ofStored: data) }
    // try?: Core Data gives nil for what it cannot unarchive.
    return try? NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data)
  }
}

// MARK: Optionals

/// An optional of any type, to look into values of a generic type.
protocol AnyOptional {
  var wrapped: Any? { get }
}

extension Optional: AnyOptional {
  var wrapped: Any? { map { $0 } }
}

func unwrapped(_ value: Any?) -> Any? {
  guard let value else { return nil }
  guard let optional = value as? any AnyOptional else { return value is NSNull ? nil : value }
  return unwrapped(optional.wrapped)
}
