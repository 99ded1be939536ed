import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodSQLite

/// Fetches of child contexts, which the store answers but for what the parents have changed.
@Suite struct ChildFetchTests {
  @Test(arguments: 0..<6)
  func findsWhatIsFoundInMemory(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let parent = try fixture.context()
    if run > 0 { try fixture.change(parent) }
    var context = ManagedObjectContext(parent: parent)
    if run > 1 { try fixture.change(context) }
    if run > 3 {
      context = ManagedObjectContext(parent: context)
      try fixture.change(context)
    }
    let requests = try (0..<60).map { _ in try fixture.request() }
    let engine = context.persistentStoreCoordinator.persistentStores[0].engine
    let found = try requests.map { try FoundObjects($0, context) }
    #expect(try !engine.knownTable(of: fixture.queries.item).isWhole, "the store has found them")
    _ = try engine.contents()
    for (request, found) in zip(requests, found) {
      try found.expectSame(try FoundObjects(request, context), request, in: fixture.queries)
    }
  }

  @Test(arguments: 0..<4)
  func groupsAsInMemory(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let parent = try fixture.context()
    try fixture.change(parent)
    let child = ManagedObjectContext(parent: parent)
    if run > 1 { try fixture.change(child) }
    let keys = [["str"], ["flag", "i16"], ["list"], ["list.name"], []]
    let functions = ["@count", "sum(i64)", "average(i16)", "max(str)", "min(full)", "count(list)", "max(list.name)"]
    let requests = try (0..<40).map { _ in
      var request = try fixture.request()
      request.sortDescriptors = []
      (request.fetchOffset, request.fetchLimit) = (0, nil)
      if fixture.queries.number(0...2) == 0 { request.predicate = nil }
      request.propertiesToGroupBy = keys[fixture.queries.number(0...4)].map { ExpressionDescription($0) }
      let function = functions[fixture.queries.number(0...6)]
      request.propertiesToFetch =
        try request.propertiesToGroupBy + [ExpressionDescription(format: "\(function) AS made")]
      if fixture.queries.number(0...1) == 0 { request.havingPredicate = try FetchPredicate(format: "@count > 1") }
      return request
    }
    let engine = child.persistentStoreCoordinator.persistentStores[0].engine
    let found = try requests.map { try child.fetchRows($0) }
    #expect(try !engine.knownTable(of: fixture.queries.item).isWhole, "the store has made them")
    _ = try engine.contents()
    for (request, rows) in zip(requests, found) {
      let expected = try child.fetchRows(request)
      #expect(Set(rows.map(\.values)) == Set(expected.map(\.values)) && rows.count == expected.count, "\(request)")
    }
  }

  /// Objects stay themselves while more is read and others are inserted, changed, saved upwards and deleted.
  @Test(arguments: 0..<4)
  func readingMoreMovesNoObject(_ run: Int) throws {
    var fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let parent = try fixture.context()
    try fixture.change(parent)
    let child = ManagedObjectContext(parent: parent)
    var seen: [ManagedObjectID: (object: ManagedObject, text: PropertyValue)] = [:]
    for round in 0..<4 {
      for _ in 0..<5 {
        for object in try child.fetch(try fixture.request()) {
          let text = try object.propertyValue(forKey: "str")
          let known = seen.updateValue((object, text), forKey: object.objectID)
          #expect(known == nil || known?.object === object && known?.text == text)
        }
      }
      for (id, known) in seen { #expect(known.object.objectID == id) }
      seen = [:]
      switch round {
      case 0: try fixture.change(child)
      case 1: try child.save()
      default: try fixture.change(parent)
      }
      child.refreshAllObjects()
    }
    try child.save()
    try parent.save()
    let whole = try fixture.context()
    _ = try whole.persistentStoreCoordinator.persistentStores[0].engine.contents()
    for request in try (0..<20).map({ _ in try fixture.request() }) {
      let found = try FoundObjects(request, child)
      try found.expectSame(try FoundObjects(request, whole), request, in: fixture.queries)
    }
  }
}
