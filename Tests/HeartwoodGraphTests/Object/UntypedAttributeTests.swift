import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// An object with an attribute without a type, as generated classes have it.
private final class Post: ManagedObject {
  static let titleKey = AttributeKey<String?>("title")
  /// The attribute `mentions`.
  var mentions: Any?
  var title: String? {
    get { self[Self.titleKey] }
    set { self[Self.titleKey] = newValue }
  }
}

@Suite struct UntypedAttributeTests {
  private func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(entities: [
      .entity("Post", .attribute("mentions", .undefined, transient: true), .attribute("title", .string, optional: true))
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, objectClasses: [Post.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  /// It is required by the model, and no store asks for it.
  @Test func anythingStaysWithTheObject() throws {
    let context = try context()
    let post = try context.insert(Post.self)
    post.mentions = ["a", "b"]
    post.title = "A title"
    try context.save()
    #expect(post.mentions as? [String] == ["a", "b"])
    let found = try context.fetch(FetchRequest<Post>())
    #expect(found.map(\.title) == ["A title"])
  }

  @Test func byNameItHoldsValuesOfAnyAttribute() throws {
    let context = try context()
    let post = try context.insert(Post.self)
    for value: PropertyValue in [.string("x"), .integer(7), .boolean(true), .null] {
      try post.setPropertyValue(value, forKey: "mentions")
      #expect(try post.propertyValue(forKey: "mentions") == value)
    }
    #expect(throws: PersistenceError.self) { try post.setPropertyValue(.toMany([]), forKey: "mentions") }
    try context.save()
  }

  @Test func noFetchAsksForIt() throws {
    let context = try context()
    #expect(throws: FetchPredicateError.self) {
      try context.fetch(FetchRequest<Post>(where: FetchPredicate(format: "mentions == 'x'")))
    }
  }
}
