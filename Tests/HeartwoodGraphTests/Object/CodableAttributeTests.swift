import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

private struct Place: CodableAttributeValue, Equatable {
  var longitude = 0.0
  var latitude = 0.0
  static let absentValue = Place()
}

@Suite struct CodableAttributeTests {
  private static let placeKey = AttributeKey<Place>("place")
  private static let optionalKey = AttributeKey<Place?>("place")

  private func spot() throws -> (ManagedObjectContext, ManagedObject) {
    let model = try ManagedObjectModel(entities: [
      .entity("Spot", .attribute("place", .transformable, optional: true))
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    return (context, try context.insert(entityName: "Spot"))
  }

  @Test func valuesAreKeptAsJSON() throws {
    let (context, spot) = try spot()
    #expect(spot[Self.placeKey] == Place())
    #expect(spot[Self.optionalKey] == nil)
    let place = Place(longitude: 11.5, latitude: -.infinity)
    spot[Self.placeKey] = place
    #expect(spot[Self.placeKey] == place)
    #expect(
      try spot.propertyValue(forKey: "place") == .binary(Data(#"{"latitude":"-Infinity","longitude":11.5}"#.utf8))
    )
    try context.save()
    #expect(spot[Self.optionalKey] == place)
    context.refresh(spot, mergeChanges: false)
    #expect(spot[Self.optionalKey] == place)
    spot[Self.optionalKey] = nil
    #expect(try spot.propertyValue(forKey: "place") == .null)
  }

  @Test func whatCannotBeDecodedIsNoValue() throws {
    let (context, spot) = try spot()
    try spot.setPropertyValue(.binary(Data("{".utf8)), forKey: "place")
    #expect(spot[Self.optionalKey] == nil)
    try context.save()
    #expect(spot[Self.placeKey] == Place())
    #expect(try spot.propertyValue(forKey: "place") == .binary(Data("{".utf8)))
  }
}
