import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// Batch insertions read what they lead to and what they change, and nothing else.
@Suite struct BatchInsertionTests {
  private let bench: SQLiteBench

  /// Twenty contacts, half of them in each of two groups, and words that have nothing to do with them.
  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity(
          "Contact",
          unique: [["email"]],
          .attribute("email", .string, optional: true),
          .attribute("name", .string, optional: true),
          .toOne("group", "Group", inverse: "contacts")
        ),
        .entity(
          "Group",
          .attribute("name", .string, optional: true),
          .toMany("contacts", "Contact", inverse: "group")
        ),
        .entity(
          "Word",
          .attribute("text", .string),
          .attribute(
            AttributeDescription(
              name: "key",
              type: .string,
              derivationExpression: try FetchExpression(format: "canonical:(text)")
            )
          )
        ),
      ])
    )
    let context = try bench.context()
    let groups = try ["left", "right"].map { name in
      let group = try context.insert(entityName: "Group")
      try group.setValue(name, forKey: "name")
      return group
    }
    for number in 0..<20 {
      let contact = try context.insert(entityName: "Contact")
      try contact.setValue("\(number)", forKey: "email")
      try contact.setValue(groups[number % 2], forKey: "group")
      try context.insert(entityName: "Word").setValue("word \(number)", forKey: "text")
    }
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  private func expectNothingIsReadWhole(_ context: ManagedObjectContext) throws {
    let engine = context.persistentStoreCoordinator.persistentStores[0].engine
    for entity in bench.model.entities {
      #expect(try !engine.knownTable(of: entity).isWhole, "\(entity.name)")
    }
  }

  private func objects(_ entity: String, _ format: String) throws -> FetchRequest<ManagedObject> {
    FetchRequest(entityName: entity, where: try FetchPredicate(format: format))
  }

  @Test func aRecordThatLeadsNowhereReadsNothing() throws {
    let context = try bench.context()
    try context.execute(BatchInsertRequest(entityName: "Contact", rows: [["email": .string("new")]]))
    try expectNothingIsReadWhole(context)
    #expect(try bench.context().count(entityName: "Contact") == 21)
  }

  @Test func aRecordReadsWhatItLeadsTo() throws {
    let context = try bench.context()
    let group = try #require(try context.fetchObjectIDs(objects("Group", "name == 'left'")).first)
    let row: [String: PropertyValue] = ["email": .string("new"), "group": .toOne(group)]
    try context.execute(BatchInsertRequest(entityName: "Contact", rows: [row]))
    try expectNothingIsReadWhole(context)
    #expect(try bench.context().count(for: objects("Contact", "group.name == 'left'")) == 11)
  }

  @Test func aRecordThatIsThereAlreadyMovesToAnotherGroup() throws {
    let context = try bench.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let group = try #require(try context.fetchObjectIDs(objects("Group", "name == 'right'")).first)
    let row: [String: PropertyValue] = ["email": .string("4"), "name": .string("four"), "group": .toOne(group)]
    #expect(try context.execute(BatchInsertRequest(entityName: "Contact", rows: [row])).count == 1)
    try expectNothingIsReadWhole(context)
    let other = try bench.context()
    #expect(try other.count(entityName: "Contact") == 20)
    #expect(try other.count(for: objects("Contact", "email == '4' AND name == 'four' AND group.name == 'right'")) == 1)
    #expect(try other.count(for: objects("Contact", "group.name == 'left'")) == 9)
  }

  @Test func whatIsDerivedOfOtherEntitiesDoesNotCount() throws {
    let context = try bench.context()
    try context.execute(BatchInsertRequest(entityName: "Group", rows: [["name": .string("third")]]))
    try expectNothingIsReadWhole(context)
    try context.execute(BatchInsertRequest(entityName: "Word", rows: [["text": .string("Émile")]]))
    #expect(try bench.context().count(for: objects("Word", "key == 'emile'")) == 1)
  }
}
