import CoreData
import Testing

@Suite struct ValueTransformerTests {
  private struct Color: Equatable {
    let red: UInt8
    let green: UInt8
  }

  /// Stores a color as two bytes.
  private final class ColorTransformer: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? { (value as? Color).map { Data([$0.red, $0.green]) } }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).flatMap { $0.count == 2 ? Color(red: $0[0], green: $0[1]) : nil }
    }
  }

  /// Reads archives of texts alone.
  private final class TextTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [NSString.self] }
  }

  private static func model(_ transformer: String) -> NSManagedObjectModel {
    let attribute = Models.attribute("value", .transformableAttributeType)
    attribute.valueTransformerName = transformer
    let entity = NSEntityDescription()
    entity.name = "Thing"
    entity.properties = [attribute]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  /// Saves a value, and returns it as another context reads it.
  private static func saved(_ value: Any?, _ transformer: String, _ type: String) throws -> Any? {
    let stack = try Stack(type, model: model(transformer))
    let id = try stack.context.performAndWait {
      let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: stack.context)
      thing.setValue(value, forKey: "value")
      try stack.context.save()
      return thing.objectID
    }
    let other = Stack.context(of: stack.coordinator)
    return try other.performAndWait { try other.existingObject(with: id).value(forKey: "value") }
  }

  @Test(arguments: Stack.types) func attributesAreStoredByTheirTransformers(type: String) throws {
    let name = NSValueTransformerName("ColorTransformer \(type)")
    ValueTransformer.setValueTransformer(ColorTransformer(), forName: name)
    defer { ValueTransformer.setValueTransformer(nil, forName: name) }
    let color = Color(red: 1, green: 2)
    #expect(try Self.saved(color, name.rawValue, type) as? Color == color)
    #expect(try Self.saved(nil, name.rawValue, type) == nil)
  }

  @Test func transformersOfArchivesAreUsedInReverse() throws {
    let name = NSValueTransformerName("TextTransformer")
    ValueTransformer.setValueTransformer(TextTransformer(), forName: name)
    #expect(try Self.saved("text" as NSString, name.rawValue, NSSQLiteStoreType) as? String == "text")
    // Other classes are not read.
    #expect(try Self.saved([1] as NSArray, name.rawValue, NSSQLiteStoreType) == nil)
    let standard = NSValueTransformerName.secureUnarchiveFromDataTransformerName
    #expect(try Self.saved([1, 2] as NSArray, standard.rawValue, NSSQLiteStoreType) as? [Int] == [1, 2])
    ValueTransformer.setValueTransformer(nil, forName: name)
  }

  @Test func transformersAreFoundByName() throws {
    let name = NSValueTransformerName("Found")
    #expect(ValueTransformer(forName: name) == nil)
    let transformer = ColorTransformer()
    ValueTransformer.setValueTransformer(transformer, forName: name)
    #expect(ValueTransformer(forName: name) === transformer)
    #expect(ValueTransformer.valueTransformerNames().contains(name))
    ValueTransformer.setValueTransformer(nil, forName: name)
    #expect(ValueTransformer(forName: name) == nil)
    #expect(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName) != nil)
    #expect(ValueTransformer().transformedValue(1) as? Int == 1)
  }
}
