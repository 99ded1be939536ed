import Foundation
import HeartwoodGraph
import HeartwoodModel

/// A property of an object, read and set through the typed keys that classes of objects use.
struct TypedAccess {
  let object: ManagedObject
  let property: PropertyDescription

  var value: PropertyValue {
    switch property {
    case .attribute(let attribute): read(attribute)
    case .relationship(let relationship): read(relationship)
    }
  }

  func set(_ value: PropertyValue) {
    guard let attribute = property.attribute else { return }
    switch attribute.type {
    case .integer16: setInteger(value, Int16.init(exactly:))
    case .integer32: setInteger(value, Int32.init(exactly:))
    case .integer64: setInteger(value, Int64.init(exactly:))
    default: setOther(value)
    }
  }

  func set(_ objects: [ManagedObject]) {
    if property.relationship?.isToMany == true {
      object[ToManyKey<ManagedObject>(property.name)] = objects
    } else {
      object[ToOneKey<ManagedObject>(property.name)] = objects.first
    }
  }
}

// MARK: Reading

extension TypedAccess {
  private func read(_ attribute: AttributeDescription) -> PropertyValue {
    switch attribute.type {
    case .integer16: read(Int16.self)
    case .integer32: read(Int32.self)
    case .integer64: read(Int64.self)
    case .decimal: read(Decimal.self)
    case .double: read(Double.self)
    case .float: read(Float.self)
    case .string: read(String.self)
    case .boolean: read(Bool.self)
    case .date: read(Date.self)
    case .binary, .transformable, .undefined: read(Data.self)
    case .uuid: read(UUID.self)
    case .uri: read(URL.self)
    }
  }

  private func read<Value: AttributeValue>(_: Value.Type) -> PropertyValue {
    object[AttributeKey<Value?>(property.name)]?.propertyValue ?? .null
  }

  private func read(_ relationship: RelationshipDescription) -> PropertyValue {
    if relationship.isToMany {
      return .toMany(object[ToManyKey<ManagedObject>(property.name)].map(\.objectID))
    }
    return object[ToOneKey<ManagedObject>(property.name)].map { .toOne($0.objectID) } ?? .null
  }
}

// MARK: Setting

extension TypedAccess {
  private func setInteger<Number: AttributeValue>(_ value: PropertyValue, _ convert: (Int64) -> Number?) {
    guard case .integer(let number) = value else { return write(Number?.none) }
    write(convert(number))
  }

  private func setOther(_ value: PropertyValue) {
    switch value {
    case .decimal(let value): write(value)
    case .double(let value): write(value)
    case .float(let value): write(value)
    case .string(let value): write(value)
    case .boolean(let value): write(value)
    case .date(let value): write(value)
    case .binary(let value): write(value)
    case .uuid(let value): write(value)
    case .uri(let value): write(value)
    case .null: writeNull()
    case .integer, .toOne, .toMany: break
    }
  }

  /// A key is of the attribute's type even where there is no value.
  private func writeNull() {
    switch property.attribute?.type {
    case .decimal: write(Decimal?.none)
    case .double: write(Double?.none)
    case .float: write(Float?.none)
    case .string: write(String?.none)
    case .boolean: write(Bool?.none)
    case .date: write(Date?.none)
    case .binary, .transformable, .undefined: write(Data?.none)
    case .uuid: write(UUID?.none)
    case .uri: write(URL?.none)
    default: break
    }
  }

  private func write<Value: AttributeValue>(_ value: Value?) {
    object[AttributeKey<Value?>(property.name)] = value
  }
}
