import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct AttributeTransformerTests {
  private struct Color: Equatable {
    var red: UInt8
    var blue: UInt8
  }

  private struct ColorTransformer: AttributeTransformer {
    struct Failure: Error {}

    func data(from value: Color) throws -> Data { Data([value.red, value.blue]) }

    func value(from data: Data) throws -> Color {
      guard data.count == 2 else { throw Failure() }
      return Color(red: data[data.startIndex], blue: data[data.startIndex + 1])
    }
  }

  private final class Brush: ManagedObject {
    static let colorKey = TransformedKey<Color>("color")
  }

  @Test func valuesGoThroughTheTransformerThatTheModelNames() throws {
    AttributeTransformers.register(ColorTransformer(), forName: "ColorTransformer")
    #expect(AttributeTransformers.names.contains("ColorTransformer"))
    #expect(AttributeTransformers.transformer(forName: "Nix") == nil)
    let attribute = AttributeDescription(name: "color", type: .transformable, valueTransformerName: "ColorTransformer")
    let model = try ManagedObjectModel(entities: [.entity("Brush", .attribute(attribute))])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, objectClasses: [Brush.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let brush = try context.insert(Brush.self)
    #expect(brush[Brush.colorKey] == nil)
    brush[Brush.colorKey] = Color(red: 1, blue: 2)
    try context.save()
    #expect(brush[Brush.colorKey] == Color(red: 1, blue: 2))
    #expect(try brush.propertyValue(forKey: "color") == .binary(Data([1, 2])))
    try brush.setPropertyValue(.binary(Data([1])), forKey: "color")
    #expect(brush[Brush.colorKey] == nil)
    brush[Brush.colorKey] = nil
    #expect(try brush.propertyValue(forKey: "color") == .null)
  }
}
