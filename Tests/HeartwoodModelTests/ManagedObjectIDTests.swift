import Foundation
import HeartwoodModel
import Testing

/// Names of objects as keys of sets and dictionaries.
@Suite struct ManagedObjectIDTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: (0..<40).map { .entity("Entity\($0)", .attribute("name", .string, optional: true)) }
    )
  }

  @Test func equalReferencesOfOtherEntitiesHashOtherwise() throws {
    let store = UUID()
    for reference in [ReferenceID.integer(7), .string("seven")] {
      let ids = try Self.model().entities.map { entity in
        ManagedObjectID(scope: ObjectIDScope(storeIdentifier: store, entity: entity), reference: reference)
      }
      #expect(Set(ids).count == 40)
      #expect(Set(ids.map(\.hashValue)).count == 40)
    }
  }

  /// The same record by a scope that was made apart, of a model that was made apart.
  @Test func equalOnesHashAlike() throws {
    let store = UUID()
    for reference in [ReferenceID.integer(7), .uuid(UUID()), .string("seven")] {
      let pairs = zip(try Self.model().entities, try Self.model().entities)
      for (left, right) in pairs {
        let ids = [left, right].map {
          ManagedObjectID(scope: ObjectIDScope(storeIdentifier: store, entity: $0), reference: reference)
        }
        #expect(ids[0] == ids[1] && ids[0].hashValue == ids[1].hashValue)
      }
    }
    let entity = try Self.model().entities[0]
    let copies = [UUID(), UUID()].map {
      ManagedObjectID(scope: ObjectIDScope(storeIdentifier: $0, entity: entity), reference: .integer(1))
    }
    #expect(copies[0] != copies[1])
  }
}
