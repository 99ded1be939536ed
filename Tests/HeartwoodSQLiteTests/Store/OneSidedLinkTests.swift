import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Records of other stores that lead to records which do not lead back.
@Suite struct OneSidedLinkTests {
  /// A record and what a relationship of it leads to, each called by its entity and its number: A1.
  struct Link: Sendable, CustomTestStringConvertible {
    let owner: String
    let property: String
    let destination: String

    init(_ owner: String, _ property: String, _ destination: String) {
      (self.owner, self.property, self.destination) = (owner, property, destination)
    }

    var testDescription: String { "\(owner).\(property) → \(destination)" }
  }

  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(entities: [
      .entity(
        "A",
        .toMany("bs", "B", inverse: "a"),
        .toMany("friends", "A", inverse: "friends"),
        .toOne("twin", "A", inverse: "twin")
      ),
      .entity("B", .toOne("a", "A", inverse: "bs"), .toMany("cs", "C", inverse: "bs", ordered: true)),
      .entity("C", .toMany("bs", "B", inverse: "cs")),
      .entity("D", parent: "B"),
    ])
  }

  /// The record that a name means.
  private func record(_ name: String, _ contents: StoreContents) throws -> ManagedObjectID {
    let entity = try #require(model.entity(named: String(name.prefix(1))))
    return contents.objectID(.integer(try #require(Int64(name.dropFirst()))), of: entity)
  }

  /// Checks two records of each entity that lead to each other by `links`.
  private func check(_ links: [Link]) throws {
    try SQLiteStore.checkRecords(of: model) { contents in
      for entity in model.entities {
        for number in 1...2 {
          let owner = "\(entity.name)\(number)"
          let values = try entity.properties.enumerated().map { ordinal, property in
            let ids = try links.filter { $0.owner == owner && $0.property == property.name }.map {
              try record($0.destination, contents)
            }
            return entity.traits[ordinal].isToMany
              ? PropertyValue.toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null
          }
          contents.tables[entity.ordinal].insert([NodeTable.NewRow(reference: .integer(Int64(number)), values: values)])
        }
      }
    }
  }

  @Test func whatLeadsBackIsKept() throws {
    try check([])
    try check([
      Link("A1", "bs", "B1"), Link("B1", "a", "A1"), Link("A1", "bs", "D2"), Link("D2", "a", "A1"),
      Link("A1", "friends", "A2"), Link("A2", "friends", "A1"), Link("A2", "friends", "A2"),
      Link("B1", "cs", "C1"), Link("B1", "cs", "C2"), Link("D1", "cs", "C1"),
      Link("C1", "bs", "D1"), Link("C1", "bs", "B1"), Link("C2", "bs", "B1"),
    ])
  }

  @Test func eachOfTwoToOneRelationshipsHasAColumn() throws {
    try check([Link("A1", "twin", "A2")])
  }

  @Test(arguments: [Link("A1", "bs", "B9"), Link("B1", "a", "A9"), Link("B1", "cs", "C9"), Link("C1", "bs", "D9")])
  func whatIsGoneNeedNotLeadBack(_ link: Link) throws {
    try check([link])
  }

  @Test(arguments: [
    Link("A1", "bs", "B1"), Link("B1", "a", "A1"), Link("D1", "a", "A2"), Link("A2", "bs", "D1"),
    Link("B1", "cs", "C1"), Link("C1", "bs", "B1"), Link("C1", "bs", "D1"), Link("A1", "friends", "A2"),
  ])
  func whatDoesNotLeadBackIsRefused(_ link: Link) throws {
    let others = [
      Link("A1", "bs", "B2"), Link("B2", "a", "A1"), Link("B2", "cs", "C2"), Link("C2", "bs", "B2"),
      Link("A1", "bs", "B9"), Link("A2", "friends", "A2"),
    ]
    let error = try #require(throws: PersistenceError.self) { try check(others + [link]) }
    #expect(error.code == .valueUnsupported)
    #expect(error.context.path == "Store.sqlite")
    #expect((error.context.entity, error.context.property) == (String(link.owner.prefix(1)), link.property))
    let names = error.context.objectIDs.map { "\($0.entity.name)\($0.reference.text)" }
    #expect(names == [link.owner, link.destination])
  }
}
