import Foundation
import Heartwood

/// What the file of a record holds: its values as text, and what its relationships lead to.
struct Record: Codable {
  var version: UInt64
  private(set) var values: [String: String] = [:]
  private(set) var links: [String: [Name]] = [:]

  /// - Parameter version: how often the record has been saved. One that another store had comes with more than one save.
  init(_ values: [(ordinal: Int, value: PropertyValue)], of id: ManagedObjectID, version: UInt64) {
    self.version = version
    set(values, of: id.entity)
  }

  /// Sets some of the values. One that is null is left out.
  mutating func set(_ values: [(ordinal: Int, value: PropertyValue)], of entity: EntityDescription) {
    for (ordinal, value) in values where !entity.properties[ordinal].isTransient {
      let property = entity.properties[ordinal]
      if let attribute = property.attribute {
        self.values[property.name] = value.text(of: attribute.type)
      } else {
        let names = Name.all(in: value)
        links[property.name] = names.isEmpty ? nil : names
      }
    }
  }

  /// What a record is called.
  struct Name: Codable {
    let entity: String
    let reference: String

    init(_ id: ManagedObjectID) { (entity, reference) = (id.entity.name, id.reference.text) }

    static func all(in value: PropertyValue) -> [Name] {
      switch value {
      case .toOne(let id): [Name(id)]
      case .toMany(let ids): ids.map(Name.init)
      default: []
      }
    }

    func objectID(in loader: StoreLoader) throws -> ManagedObjectID {
      loader.objectID(ReferenceID(text: reference), of: try loader.entity(named: entity))
    }
  }
}
