import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import Testing

/// The code of the article on importing.
@Suite struct ImportingGuideTests {
  private static let json = """
    [{"id": 7, "text": {"plain": "Milk"}, "due": "21.11.2016", "list": "Shopping"}]
    """

  private func context() throws -> ManagedObjectContext {
    let toDo = EntityDefinition(
      name: "ToDo",
      properties: [
        .attribute("number", .integer64, userInfo: ["mappedKeyName": "id"]),
        .attribute(
          "memo",
          .string,
          optional: true,
          userInfo: ["mappedKeyName": "text.plain", "mappedKeyName.1": "title"]
        ),
        .attribute("due", .date, optional: true, userInfo: ["dateFormat": "dd.MM.yyyy"]),
        .toOne("list", "ToDoList", inverse: "items", userInfo: ["relatedByAttribute": "name"]),
      ],
      userInfo: ["relatedByAttribute": "number"]
    )
    let list = EntityDefinition.entity(
      "ToDoList",
      .attribute("name", .string),
      .toMany("items", "ToDo", inverse: "list")
    )
    let person = EntityDefinition.entity("Person", .attribute("name", .string))
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(entities: [toDo, list, person]),
      objectClasses: [ToDo.self, ToDoList.self, Person.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  @Test func jsonBecomesObjects() throws {
    let context = try context()
    let data = Data(Self.json.utf8)
    let toDos = try context.importObjects(ToDo.self, fromJSON: data)
    try context.save()
    #expect(toDos.map(\.memo) == ["Milk"] && toDos[0].list?.name == "Shopping")
    let due = try toDos[0].propertyValue(forKey: "due")
    #expect(due == .date(try Date("2016-11-21T00:00:00Z", strategy: .iso8601)))
    #expect(try context.importObjects(ToDo.self, fromJSON: data) == toDos)
  }

  @Test func faultsAreTold() throws {
    let context = try context()
    let data = Data(#"[{"id": "seven"}]"#.utf8)
    do {
      try context.importObjects(ToDo.self, fromJSON: data)
    } catch let error as PersistenceError where error.code == .importFailed {
      for fault in error.context.importFaults { print(fault.path, fault.message) }
    }
    #expect(!context.hasChanges)
  }

  @Test func objectsHaveASay() throws {
    let context = try context()
    let people = try context.importObjects(
      Person.self,
      from: [["name": "Ann"], ["name": "Bob", "deleted": true], ["name": ["C", "D"]]]
    )
    #expect(people.map(\.name) == ["Ann", "several"])
  }

  @Test func progressIsTold() throws {
    let context = try context()
    let records = (1...3).map { ["id": .scalar(.integer($0))] as ImportValue }
    var options = ImportOptions()
    options.progressHandler = { count in
      try Task.checkCancellation()
      print("\(count) of \(records.count)")
    }
    try context.importObjects(ToDo.self, from: records, options: options)
    #expect(try context.count(ToDo.self) == 3)
  }

  final class Person: ManagedObject, ImportingObject {
    func shouldImport(_ record: ImportValue) -> Bool { record["deleted"] != true }

    func importValue(_ value: ImportValue, forKey name: String) -> Bool {
      guard name == "name", case .array = value else { return false }
      try? setPropertyValue(.string("several"), forKey: name)
      return true
    }
  }
}

extension ImportingGuideTests.Person {
  fileprivate var name: String { self[AttributeKey<String>("name")] }
}
