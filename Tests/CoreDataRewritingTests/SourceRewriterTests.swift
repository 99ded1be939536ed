import Testing

@testable import CoreDataRewriting

@Suite struct SourceRewriterTests {
  @Test(arguments: [
    // Properties.
    (
      "@NSManaged var memo: String?",
      #"var memo: String? { get { managedValue(forKey: "memo") } set { setManagedValue(newValue, forKey: "memo") } }"#
    ),
    (
      "  @NSManaged public private(set) var done: Bool // note",
      #"  public private(set) var done: Bool { get { managedValue(forKey: "done") } "#
        + #"set { setManagedValue(newValue, forKey: "done") } } // note"#
    ),
    (
      "@NSManaged\nvar `default`: Int16",
      "\nvar `default`: Int16 { get { managedValue(forKey: \"default\") } "
        + "set { setManagedValue(newValue, forKey: \"default\") } }"
    ),
    (
      "@NSManaged fileprivate var a, b: String",
      #"fileprivate var a: String { get { managedValue(forKey: "a") } set { setManagedValue(newValue, forKey: "a") } }; "#
        + #"fileprivate var b: String { get { managedValue(forKey: "b") } set { setManagedValue(newValue, forKey: "b") } }"#
    ),
    // Functions of relationships.
    (
      "@NSManaged func addToItems(_ value: ToDo)",
      #"func addToItems(_ value: ToDo) { addManagedValues(value, forKey: "items") }"#
    ),
    (
      "@objc(removeItems:)\n@NSManaged public func removeFromItems(_ values: NSSet)",
      "\npublic func removeFromItems(_ values: NSSet) { removeManagedValues(values, forKey: \"items\") }"
    ),
    // Objective-C.
    ("@objc func act() {}", "func act() {}"),
    ("@objc dynamic var a = 1", "dynamic var a = 1"),
    ("@objcMembers public class A {}", "public class A {}"),
    ("@objc(Person) class Person: NSManagedObject {}", "class Person: NSManagedObject {}"),
    (
      "@objc(PersonMO)\npublic class Person: NSManagedObject {\n}",
      "\npublic class Person: NSManagedObject {\n}; enum CoreDataName_PersonMO: ManagedObjectClassName "
        + "{ static var objectClass: AnyClass { Person.self } }"
    ),
    ("@objc protocol P {}", "protocol P: AnyObject {}"),
    ("@objc enum Kind: Int16 { case a }", "enum Kind: Int16 { case a }"),
    // Names of key paths.
    ("let key = #keyPath(ToDo.list.title)", #"let key = "list.title""#),
    ("let key = #keyPath(App.ToDo.list?.title)", #"let key = "list.title""#),
    ("f(#keyPath(\n  ToDo.memo\n), 1)", "f(\"memo\"\n\n, 1)"),
    // Initializers that the framework calls.
    (
      "class A: B { override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {} }",
      "class A: B { required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {} }"
    ),
    (
      "class A: B { convenience init(context: NSManagedObjectContext) {} }",
      "class A: B { convenience required init(context: NSManagedObjectContext) {} }"
    ),
    // Requests of another type.
    (
      "let r = ToDo.fetchRequest() as! NSFetchRequest<ToDo>",
      "let r = ToDo.fetchRequest().requesting(NSFetchRequest<ToDo>.self)"
    ),
  ]) func sourcesAreRewritten(before: String, after: String) {
    #expect(SourceRewriter.rewrite(before) == after)
    #expect(before.count { $0.isNewline } == after.count { $0.isNewline })
    // What is rewritten needs no second time.
    #expect(SourceRewriter.rewrite(after) == nil)
  }

  @Test(arguments: [
    "struct A { var memo: String? }",
    "extension A { convenience init(context: NSManagedObjectContext) { self.init() } }",
    "struct A { init(context: NSManagedObjectContext) {} }",
    "let text = \"@objc is of Objective-C\"",
    "// @NSManaged var memo: String?",
    "let r = x as? NSFetchRequest<ToDo>",
  ]) func otherSourcesStayAsTheyAre(source: String) {
    #expect(SourceRewriter.rewrite(source) == nil)
  }
}
