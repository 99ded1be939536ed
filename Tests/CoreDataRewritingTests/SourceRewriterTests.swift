import Foundation
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
    // Methods by name.
    ("let s = #selector(Stack.didSave(_:))", #"let s = Selector("didSave(_:)", Stack.didSave(_:))"#),
    ("let s = #selector(self.didSave(note:))", #"let s = Selector("didSave(note:)", Self.didSave(note:))"#),
    ("let s = #selector(didSave)", #"let s = Selector("didSave", Self.didSave)"#),
    (
      "import CoreData\nlet a = center.removeObserver(self), b = center.removeObserver(self, name: n, object: nil)",
      "import CoreData\nlet a = center.removeSelectorObserver(self), "
        + "b = center.removeSelectorObserver(self, name: n, object: nil)"
    ),
    // Initializers that the framework calls.
    (
      "class A: B { override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {} }",
      "class A: B { required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {} }"
    ),
    (
      "class A: B { convenience init(context: NSManagedObjectContext) {} }",
      "class A: B { convenience required init(context: NSManagedObjectContext) {} }"
    ),
    (
      "class A: NSManagedObject {\n  init(_ flag: Bool) {}\n}",
      "class A: NSManagedObject {\n  init(_ flag: Bool) {}; required init(entity: NSEntityDescription, "
        + "insertInto context: NSManagedObjectContext?) { super.init(entity: entity, insertInto: context) }\n}"
    ),
    // Requests of another type.
    (
      "let r = ToDo.fetchRequest() as! NSFetchRequest<ToDo>",
      "let r = ToDo.fetchRequest().requesting(NSFetchRequest<ToDo>.self)"
    ),
    // Names that Foundation has too.
    (
      "import CoreData\nlet p: NSExpression = NSExpression(forKeyPath: \"a\")",
      "import CoreData\nlet p: CoreData.NSExpression = CoreData.NSExpression(forKeyPath: \"a\")"
    ),
    (
      "import CoreData\nlet p = x as? NSCompoundPredicate, q = [NSComparisonPredicate.Operator]()",
      "import CoreData\nlet p = x as? CoreData.NSCompoundPredicate, q = [CoreData.NSComparisonPredicate.Operator]()"
    ),
    (
      "import CoreData\nlet name = NSStringFromClass(Person.self)",
      "import CoreData\nlet name = CoreData.NSStringFromClass(Person.self)"
    ),
    // Names that key-value coding has for properties of the application's own.
    (
      "import CoreData\npublic class A: NSManagedObject {\n  @objc var name: String?\n  var other = 1 // note\n}",
      "import CoreData\npublic class A: NSManagedObject {\n  var name: String?\n  var other = 1; public override class var "
        + "keyPathNames: [AnyKeyPath: String] { [\\A.name: \"name\"] } // note\n}"
    ),
    (
      "import CoreData\nclass A: NSObject { @objc var id = 1 }",
      "import CoreData\nclass A: NSObject, CoreData.KeyPathNaming { var id = 1; "
        + #"class var keyPathNames: [AnyKeyPath: String] { [\A.id: "id"] } }"#
    ),
    (
      "class A: NSManagedObject { override private init(entity: E, insertInto context: C?) {} }",
      "class A: NSManagedObject { required internal init(entity: E, insertInto context: C?) {} }"
    ),
    (
      "import CoreData\nlet bundle = Bundle(identifier: \"a.B\")!",
      "import CoreData\nlet bundle = Bundle.found(identifier: \"a.B\")!"
    ),
    // Conditions.
    (
      "import CoreData\n#if canImport(Darwin)\nlet p = NSPredicate(format: \"a == 1\")\n#endif",
      "import CoreData\n#if canImport(Darwin) || canImport(CoreData)\nlet p = NSPredicate(format: \"a == 1\")\n#endif"
    ),
  ]) func sourcesAreRewritten(before: String, after: String) {
    #expect(SourceRewriter.rewrite(before) == after)
    #expect(before.count { $0.isNewline } == after.count { $0.isNewline })
    // What is rewritten needs no second time.
    #expect(SourceRewriter.rewrite(after) == nil)
  }

  @Test(arguments: [
    ("import Foundation\nlet p = NSExpression(forKeyPath: \"a\")", true),
    ("import Foundation\nfinal class A: NSManagedObject { @NSManaged var a: String }", true),
    ("import Foundation\n@objc final class A: NSObject {}", false),
  ]) func sourcesWithCoreDatasNamesImportIt(source: String, needsImport: Bool) throws {
    let rewritten = try #require(SourceRewriter.rewrite(source))
    #expect(rewritten.hasSuffix("\n#if canImport(CoreData)\n  import CoreData\n#endif\n") == needsImport)
  }

  @Test(arguments: [
    "import Foundation\nlet p = NSCompoundPredicate(type: .and, subpredicates: [])",
    "let p = CoreData.NSExpression(forKeyPath: \"a\")",
    "struct A { var memo: String? }",
    "extension A { convenience init(context: NSManagedObjectContext) { self.init() } }",
    "struct A { init(context: NSManagedObjectContext) {} }",
    "#if canImport(Darwin)\nimport Darwin\n#endif",
    "import Combine",
    "let text = \"@objc is of Objective-C\"",
    "// @NSManaged var memo: String?",
    "let r = x as? NSFetchRequest<ToDo>",
    "import CoreData\nlet a: () = object.removeObserver(self, forKeyPath: \"name\")",
    "import Foundation\nlet a: () = center.removeObserver(self)",
    "class A: NSManagedObject { convenience init(_ flag: Bool) {} }",
    "let r = request.copy() as! NSFetchRequest<ToDo>",
  ]) func otherSourcesStayAsTheyAre(source: String) {
    #expect(SourceRewriter.rewrite(source) == nil)
  }

  @Test(arguments: [
    ("import Combine", "import CombineStandIn"),
    ("import Combine.Subjects", "import CombineStandIn"),
    ("#if canImport(Combine)\nimport Combine\n#endif", "#if canImport(CombineStandIn)\nimport CombineStandIn\n#endif"),
    ("import Combine\nlet a: Combine.AnyCancellable", "import CombineStandIn\nlet a: CombineStandIn.AnyCancellable"),
    (
      "import Foundation\nclass A: ObservableObject {}",
      "import Foundation\nclass A: ObservableObject {}\n#if canImport(CombineStandIn)\n  import CombineStandIn\n#endif\n"
    ),
    (
      "import os\n#if (os(iOS) || canImport(os))\nlet a = os.OSLog.default\n#endif",
      "import OSLogStandIn\n#if (os(iOS) || canImport(OSLogStandIn))\nlet a = OSLogStandIn.OSLog.default\n#endif"
    ),
  ]) func standInsAreImported(before: String, after: String) {
    #expect(SourceRewriter.rewrite(before, standIns: SourceRewriter.standIns) == after)
    #expect(SourceRewriter.rewrite(after, standIns: SourceRewriter.standIns) == nil)
    #expect(SourceRewriter.rewrite(before) == nil)
  }

  @Test func namesOfModulesThatFoundationHasTooAreQualified() {
    var names = OwnNames()
    names.note("public struct SortDescriptor<Model> {}\nstruct Predicate {}", ofModule: "Queries")
    let source = "import CoreData\nimport Queries\nlet a: SortDescriptor<Person> = x, b: Predicate<Person> = y"
    #expect(
      SourceRewriter.rewrite(source, names)
        == "import CoreData\nimport Queries\nlet a: Queries.SortDescriptor<Person> = x, b: Predicate<Person> = y"
    )
    let alone = "import CoreData\nimport struct Queries.SortDescriptor\nlet a: SortDescriptor<Person> = x"
    #expect(SourceRewriter.rewrite(alone, names) == nil)
    let other = "import CoreData\nlet a: SortDescriptor<Person> = x"
    #expect(SourceRewriter.rewrite(other, names) == nil)
    let package = URL(fileURLWithPath: "/a/b")
    #expect(OwnNames.module(of: URL(fileURLWithPath: "/a/b/Sources/Queries/C/d.swift"), in: package) == "Queries")
    #expect(OwnNames.module(of: URL(fileURLWithPath: "/a/b/Queries/d.swift"), in: package) == "Queries")
    #expect(OwnNames.module(of: URL(fileURLWithPath: "/a/b/d.swift"), in: package) == nil)
    #expect(OwnNames.module(of: URL(fileURLWithPath: "/a/b/Tests/Queries/d.swift"), in: package) == nil)
  }
}
