import CoreData
import Testing

@Suite struct MergePolicyTests {
  /// A policy that joins the memos of both saves.
  private final class Joining: NSMergePolicy, @unchecked Sendable {
    var seen: [NSMergeConflict] = []

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
      seen += list
      for conflict in list {
        let stored = conflict.persistedSnapshot?["memo"] as? String ?? "?"
        let own = conflict.objectSnapshot?["memo"] as? String ?? "?"
        conflict.sourceObject.setValue("\(stored) and \(own)", forKey: "memo")
      }
    }
  }

  /// A policy that looks at all conflicts, and leaves them to its type.
  private final class Watching: NSMergePolicy, @unchecked Sendable {
    var seen: [Any] = []

    override func resolve(mergeConflicts list: [Any]) throws {
      seen += list
      try super.resolve(mergeConflicts: list)
    }
  }

  private final class Refusing: NSMergePolicy, @unchecked Sendable {
    override func resolve(mergeConflicts list: [Any]) throws { throw NSError(domain: "Refusing", code: 3) }
  }

  /// A policy that gives new lists another title, instead of leaving a violation to its type.
  private final class Renaming: NSMergePolicy, @unchecked Sendable {
    var conflicts: [NSConstraintConflict] = []
    var renames = true

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
      conflicts += list
      for conflict in list where renames {
        for (place, object) in conflict.conflictingObjects.enumerated() {
          let title = conflict.constraintValues["title"] as? String ?? "?"
          object.setValue("\(title) \(place + 2)", forKey: "title")
        }
      }
    }
  }

  /// A stack in which another context has changed what the context is about to save.
  private static func conflicting(_ policy: NSMergePolicy, _ type: String = NSSQLiteStoreType) throws -> (Stack, ToDo) {
    let stack = try Stack(type)
    let milk = try stack.context.performAndWait {
      let milk = stack.insert("Milk", 1)
      try stack.context.save()
      return Kept(milk)
    }.object
    try Stack.changeFirst(in: Stack.context(of: stack.coordinator), to: "Cream")
    stack.context.performAndWait {
      milk.memo = "Butter"
      stack.context.mergePolicy = policy
    }
    return (stack, milk)
  }

  private struct Kept: @unchecked Sendable {
    let object: ToDo
    init(_ object: ToDo) { self.object = object }
  }

  @Test(arguments: Stack.types) func aPolicyChangesTheObjects(type: String) throws {
    let policy = Joining(merge: .errorMergePolicyType)
    let (stack, milk) = try Self.conflicting(policy, type)
    try stack.context.performAndWait {
      try stack.context.save()
      #expect(milk.memo == "Cream and Butter" && !stack.context.hasChanges)
      let conflict = try #require(policy.seen.first)
      #expect(policy.seen.count == 1 && conflict.sourceObject === milk)
      #expect(conflict.cachedSnapshot?["memo"] as? String == "Milk")
      #expect(conflict.newVersionNumber > conflict.oldVersionNumber)
    }
    let other = Stack.context(of: stack.coordinator)
    #expect(try other.performAndWait { try other.fetch(toDoRequest()).map(\.memo) } == ["Cream and Butter"])
  }

  @Test(arguments: [
    (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, "Cream"),
    (.mergeByPropertyObjectTrumpMergePolicyType, "Butter"), (.overwriteMergePolicyType, "Butter"),
    (.rollbackMergePolicyType, "Cream"),
  ])
  func whatIsHandedOnIsResolvedByTheType(type: NSMergePolicyType, memo: String) throws {
    let policy = Watching(merge: type)
    let (stack, milk) = try Self.conflicting(policy)
    try stack.context.performAndWait {
      try stack.context.save()
      #expect(milk.memo == memo && policy.seen.count == 1 && policy.seen.first is NSMergeConflict)
    }
  }

  @Test func aPolicyRefusesASave() throws {
    let (stack, milk) = try Self.conflicting(Refusing(merge: .overwriteMergePolicyType))
    stack.context.performAndWait {
      let error = #expect(throws: NSError.self) { try stack.context.save() }
      #expect(error?.domain == "Refusing" && error?.code == 3 && milk.memo == "Butter")
      stack.context.mergePolicy = Watching(merge: .errorMergePolicyType)
      let merge = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(merge?.code == .managedObjectMerge)
      let conflicts = merge?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      #expect(conflicts?.map(\.sourceObject) == [milk])
    }
  }

  /// Lists whose titles are unique.
  private static func uniqueLists(_ policy: NSMergePolicy) throws -> Stack {
    let model = Models.toDos()
    try #require(model.entitiesByName["List"]).uniquenessConstraints = [["title"]]
    let stack = try Stack(NSSQLiteStoreType, model: model)
    stack.context.mergePolicy = policy
    try stack.context.performAndWait {
      List(context: stack.context).title = "Shopping"
      try stack.context.save()
    }
    return stack
  }

  @Test func aPolicyRemovesAViolation() throws {
    let policy = Renaming(merge: .errorMergePolicyType)
    let stack = try Self.uniqueLists(policy)
    try stack.context.performAndWait {
      let new = List(context: stack.context)
      new.title = "Shopping"
      try stack.context.save()
      #expect(new.title == "Shopping 2")
      let conflict = try #require(policy.conflicts.first)
      #expect(conflict.constraint == ["title"] && conflict.conflictingObjects == [new])
      #expect(conflict.databaseObject?.value(forKey: "title") as? String == "Shopping")
      // A violation that stays is an error after some attempts.
      policy.renames = false
      List(context: stack.context).title = "Shopping"
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code == .managedObjectConstraintMerge)
      #expect(error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] is [NSConstraintConflict])
    }
  }

  @Test func violationsAreHandedOn() throws {
    let policy = Watching(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    let stack = try Self.uniqueLists(policy)
    try stack.context.performAndWait {
      let new = List(context: stack.context)
      new.title = "Shopping"
      stack.insert("Milk").list = new
      try stack.context.save()
      #expect(policy.seen.first is NSConstraintConflict)
      let lists = try stack.context.fetch(NSFetchRequest<List>(entityName: "List"))
      #expect(lists.count == 1 && lists.first?.items.count == 1)
    }
  }
}
