import Foundation
import HeartwoodGraph
import HeartwoodModel

/// A model with relationships of every kind.
enum Library {
  static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(
        entities: [person, employee, passport, shelf, book, tag, note, values],
        configurations: [
          "Notes": ["Note"], "Rest": ["Person", "Employee", "Passport", "Shelf", "Book", "Tag", "Values"],
        ]
      )
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  static let objectClasses: [ManagedObject.Type] = [
    Person.self, Employee.self, Passport.self, Shelf.self, Book.self, Tag.self, Note.self, Values.self,
  ]

  private static let person = EntityDefinition.entity(
    "Person",
    .attribute("name", .string),
    .toOne("spouse", "Person", inverse: "spouse"),
    .toMany("friends", "Person", inverse: "friends"),
    .toOne("mentor", "Person", inverse: "students"),
    .toMany("students", "Person", inverse: "mentor", ordered: true),
    .toOne("passport", "Passport", inverse: "owner", deleteRule: .cascade),
    .toMany("books", "Book", inverse: "readers")
  )
  private static let employee = EntityDefinition.entity(
    "Employee",
    parent: "Person",
    .attribute("salary", .integer32, optional: true)
  )
  private static let passport = EntityDefinition.entity(
    "Passport",
    .attribute("number", .integer64, default: .integer(1)),
    .toOne("owner", "Person", inverse: "passport", deleteRule: .cascade)
  )
  private static let shelf = EntityDefinition.entity(
    "Shelf",
    .attribute("title", .string, default: .string("Shelf")),
    .toMany("books", "Book", inverse: "shelf", ordered: true, deleteRule: .cascade)
  )
  private static let book = EntityDefinition.entity(
    "Book",
    .attribute("title", .string, optional: true),
    .attribute("cached", .string, optional: true, transient: true),
    .toOne("shelf", "Shelf", inverse: "books"),
    .toMany("readers", "Person", inverse: "books", deleteRule: .deny),
    .toMany("tags", "Tag", inverse: "books")
  )
  private static let tag = EntityDefinition.entity(
    "Tag",
    .attribute("name", .string, optional: true),
    .toMany("books", "Book", inverse: "tags", deleteRule: .noAction)
  )
  private static let note = EntityDefinition.entity(
    "Note",
    .attribute("text", .string, optional: true),
    .toOne("about", "Note", inverse: nil, deleteRule: .noAction)
  )
  private static let values = EntityDefinition(
    name: "Values",
    properties: AttributeType.allCases.flatMap { type -> [PropertyDescription] in
      [.attribute("\(type)", type), .attribute("\(type)OrNil", type, optional: true)]
    }
  )
}

final class Employee: Person {
  static let salaryKey = AttributeKey<Int32?>("salary")

  var salary: Int32? {
    get { self[Self.salaryKey] }
    set { self[Self.salaryKey] = newValue }
  }
}

class Person: ManagedObject {
  static let nameKey = AttributeKey<String>("name")
  static let spouseKey = ToOneKey<Person>("spouse")
  static let friendsKey = ToManyKey<Person>("friends")
  static let mentorKey = ToOneKey<Person>("mentor")
  static let studentsKey = ToManyKey<Person>("students")
  static let passportKey = ToOneKey<Passport>("passport")
  static let booksKey = ToManyKey<Book>("books")

  override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
    switch keyPath {
    case \Person.name: nameKey.name
    case \Person.friends: friendsKey.name
    case \Person.mentor: mentorKey.name
    default: super.propertyName(forKeyPath: keyPath)
    }
  }

  var name: String {
    get { self[Self.nameKey] }
    set { self[Self.nameKey] = newValue }
  }
  var spouse: Person? {
    get { self[Self.spouseKey] }
    set { self[Self.spouseKey] = newValue }
  }
  var friends: [Person] {
    get { self[Self.friendsKey] }
    set { self[Self.friendsKey] = newValue }
  }
  var mentor: Person? {
    get { self[Self.mentorKey] }
    set { self[Self.mentorKey] = newValue }
  }
  var students: [Person] {
    get { self[Self.studentsKey] }
    set { self[Self.studentsKey] = newValue }
  }
  var passport: Passport? {
    get { self[Self.passportKey] }
    set { self[Self.passportKey] = newValue }
  }
  var books: [Book] {
    get { self[Self.booksKey] }
    set { self[Self.booksKey] = newValue }
  }
}

final class Passport: ManagedObject {
  static let numberKey = AttributeKey<Int>("number")
  static let ownerKey = ToOneKey<Person>("owner")

  override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
    keyPath == \Passport.number ? numberKey.name : super.propertyName(forKeyPath: keyPath)
  }

  var number: Int {
    get { self[Self.numberKey] }
    set { self[Self.numberKey] = newValue }
  }
  var owner: Person? {
    get { self[Self.ownerKey] }
    set { self[Self.ownerKey] = newValue }
  }
}

final class Shelf: ManagedObject {
  static let titleKey = AttributeKey<String>("title")
  static let booksKey = ToManyKey<Book>("books")

  var title: String {
    get { self[Self.titleKey] }
    set { self[Self.titleKey] = newValue }
  }
  var books: [Book] {
    get { self[Self.booksKey] }
    set { self[Self.booksKey] = newValue }
  }
}

/// It notes its life.
final class Book: ManagedObject {
  static let titleKey = AttributeKey<String?>("title")
  static let cachedKey = AttributeKey<String?>("cached")
  static let shelfKey = ToOneKey<Shelf>("shelf")
  static let readersKey = ToManyKey<Person>("readers")
  static let tagsKey = ToManyKey<Tag>("tags")

  var events: [String] = []

  var title: String? {
    get { self[Self.titleKey] }
    set { self[Self.titleKey] = newValue }
  }
  /// Transient.
  var cached: String? {
    get { self[Self.cachedKey] }
    set { self[Self.cachedKey] = newValue }
  }
  var shelf: Shelf? {
    get { self[Self.shelfKey] }
    set { self[Self.shelfKey] = newValue }
  }
  var readers: [Person] {
    get { self[Self.readersKey] }
    set { self[Self.readersKey] = newValue }
  }
  var tags: [Tag] {
    get { self[Self.tagsKey] }
    set { self[Self.tagsKey] = newValue }
  }

  override func awakeFromInsert() { events.append("insert") }

  override func awakeFromFetch() {
    events.append("fetch")
    cached = title.map { "cached \($0)" }
  }

  override func prepareForDeletion() { events.append("delete from \(shelf?.title ?? "nowhere")") }
}

final class Tag: ManagedObject {
  static let nameKey = AttributeKey<String?>("name")
  static let booksKey = ToManyKey<Book>("books")

  var name: String? {
    get { self[Self.nameKey] }
    set { self[Self.nameKey] = newValue }
  }
  var books: [Book] {
    get { self[Self.booksKey] }
    set { self[Self.booksKey] = newValue }
  }
}

final class Note: ManagedObject {
  static let textKey = AttributeKey<String?>("text")
  static let aboutKey = ToOneKey<Note>("about")

  var text: String? {
    get { self[Self.textKey] }
    set { self[Self.textKey] = newValue }
  }
  /// It has no inverse.
  var about: Note? {
    get { self[Self.aboutKey] }
    set { self[Self.aboutKey] = newValue }
  }
}

final class Values: ManagedObject {}
