// Written as in its years.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

import CoreData
import XCTest

@testable import ToDos

class ToDosTests: XCTestCase {
  var folder: URL!

  override func setUpWithError() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws {
    try FileManager.default.removeItem(at: folder)
  }

  func makeStack() -> CoreDataStack {
    let stack = CoreDataStack()
    stack.folder = folder
    return stack
  }

  func testToDosAreSavedAsCSVAndReadAgain() throws {
    let stack = makeStack()
    let store = try stack.openStore()
    XCTAssertEqual(store.type, CSVStore.storeType)
    let milk = ToDo.insert("Milk, \"fresh\"", into: stack.managedObjectContext)
    let bread = ToDo.insert("Bread", into: stack.managedObjectContext)
    bread.done = true
    XCTAssertNotNil(UUID(uuidString: milk.uuid))
    try stack.save()
    let uuid = milk.uuid

    let lines = try String(contentsOf: stack.csvURL, encoding: .utf8).split(separator: "\n")
    XCTAssertEqual(lines.count, 3)
    XCTAssertEqual(String(lines[0]), "#" + store.identifier)
    XCTAssertTrue(lines[1].hasPrefix("0,\"Milk, \"\"fresh\"\"\",0,"))

    let other = makeStack()
    XCTAssertEqual(try other.openStore().identifier, store.identifier)
    let toDos = try ToDo.all(in: other.managedObjectContext)
    XCTAssertEqual(toDos.map { $0.memo }, ["Milk, \"fresh\"", "Bread"])
    XCTAssertEqual(toDos.map { $0.done.boolValue }, [false, true])
    XCTAssertEqual(toDos.first?.uuid, uuid)
    XCTAssertEqual(try ToDo.open(in: other.managedObjectContext, containing: "milk").count, 1)

    other.managedObjectContext.delete(toDos[0])
    toDos[1].memo = "Toast"
    try other.save()
    let third = makeStack()
    try third.openStore()
    XCTAssertEqual(try ToDo.all(in: third.managedObjectContext).map { $0.memo }, ["Toast"])
  }

  func testToDosAreMovedToTheBinaryStore() throws {
    let stack = makeStack()
    try stack.openStore()
    _ = ToDo.insert("Milk", into: stack.managedObjectContext)
    try stack.save()
    try stack.moveToBinaryStore()
    XCTAssertEqual(stack.persistentStoreCoordinator.persistentStores.map { $0.type }, [NSBinaryStoreType])

    let other = makeStack()
    XCTAssertFalse(try other.isMigrationNeeded(NSBinaryStoreType, at: other.binaryURL))
    XCTAssertEqual(try other.openStore().type, NSBinaryStoreType)
    XCTAssertEqual(try ToDo.all(in: other.managedObjectContext).map { $0.memo }, ["Milk"])
  }
}
