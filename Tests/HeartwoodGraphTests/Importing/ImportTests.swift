import Foundation
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import Testing

/// Records become objects, as the model's `userInfo` says.
@Suite struct ImportTests {
  private func contact(_ id: Int, _ context: ManagedObjectContext) throws -> Contact {
    try #require(try context.fetchFirst(Contact.self, where: Contact.idKey == id))
  }

  private func names(_ objects: [ManagedObject]) throws -> [PropertyValue] {
    try objects.map { try $0.propertyValue(forKey: "name") }
  }

  // MARK: Attributes

  @Test(arguments: TestStoreKind.allCases)
  func keysAreMapped(_ kind: TestStoreKind) throws {
    let context = try ImportStack(kind).context
    let json = """
      [
        {"id": 1, "full_name": "Ann", "name": {"full": "no"}, "rank": 1},
        {"id": "2", "name": {"full": "Bob"}, "title": "no", "balance": null},
        {"id": 3.0, "title": "Cid", "name": "no"},
        {"id": 4, "full_name": null, "title": "no"}
      ]
      """
    let contacts = try context.importObjects(Contact.self, fromJSON: Data(json.utf8))
    try context.save()
    #expect(contacts.map { $0[Contact.nameKey] } == ["Ann", "Bob", "Cid", nil])
    #expect(contacts.map { $0[Contact.idKey] } == [1, 2, 3, 4])
    #expect(contacts.map { $0[Contact.rankKey] } == [1, 5, 5, 5])
    #expect(contacts.map { $0[Contact.balanceKey] } == [1, nil, 1, 1])
    // What a record has no key for stays, but for what asks for its default value.
    try context.importObject(Contact.self, from: ["id": 1])
    #expect(contacts[0][Contact.nameKey] == "Ann" && contacts[0][Contact.rankKey] == 5)
  }

  @Test(arguments: TestStoreKind.allCases)
  func valuesAreConverted(_ kind: TestStoreKind) throws {
    let context = try ImportStack(kind).context
    // Core Data's SQLite files keep decimal numbers as doubles.
    let balance = kind == .sqlite ? "1.25" : "12345678901234567890.123456789012345678"
    let json = """
      {
        "id": "-7", "full_name": 1.50, "born": "4. March 1999", "seen": 1479745200123, "updated": "2016-11-21T16:20:00+02:00",
        "rank": 32767, "balance": \(balance), "score": "0.1", "active": "YES",
        "photo": "AAEC", "token": "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", "site": "https://example.com/a?b"
      }
      """
    let contact = try #require(try context.importObjects(Contact.self, fromJSON: Data(json.utf8)).first)
    try context.save()
    #expect(contact[Contact.idKey] == -7)
    #expect(contact[Contact.nameKey] == "1.50")
    #expect(contact[Contact.bornKey]?.ISO8601Format() == "1999-03-04T00:00:00Z")
    #expect(contact[Contact.seenKey]?.timeIntervalSince1970 == 1_479_745_200.123)
    #expect(contact[Contact.updatedKey]?.ISO8601Format() == "2016-11-21T14:20:00Z")
    #expect(contact[Contact.rankKey] == .max)
    #expect(contact[Contact.balanceKey] == Decimal(string: balance))
    #expect(contact[Contact.scoreKey] == 0.1)
    #expect(contact[Contact.activeKey] == true)
    #expect(try contact.propertyValue(forKey: "photo") == .binary(Data([0, 1, 2])))
    let token = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    #expect(try contact.propertyValue(forKey: "token") == .uuid(token))
    #expect(try contact.propertyValue(forKey: "site") == .uri(try #require(URL(string: "https://example.com/a?b"))))
    #expect(!context.hasChanges)
  }

  // MARK: What is there already

  @Test(arguments: TestStoreKind.allCases)
  func objectsAreUpdated(_ kind: TestStoreKind) throws {
    let stack = try ImportStack(kind)
    let context = stack.context
    try context.importObjects(Contact.self, from: (1...3).map { ["id": .scalar(.integer($0)), "full_name": "old"] })
    try context.save()
    let pending = try context.importObject(Contact.self, from: ["id": 4, "full_name": "pending"])
    let imported = try context.importObjects(
      Contact.self,
      from: [
        ["id": 2, "full_name": "new"], ["id": 5, "full_name": "fifth"], ["id": 4, "score": 1], ["full_name": "nobody"],
        ["id": 5, "score": 2], ["id": nil],
      ]
    )
    #expect(imported.count == 6)
    #expect(imported[1] === imported[4])
    #expect(imported[2] === pending)
    #expect(imported[0].isUpdated && !imported[0].isInserted)
    try context.save()
    let fresh = ManagedObjectContext(stack.coordinator)
    let all = try fresh.fetch(Contact.self, sortedBy: Contact.idKey.ascending)
    #expect(all.map { $0[Contact.idKey] } == [nil, nil, 1, 2, 3, 4, 5])
    #expect(try names(all).suffix(5) == ["old", "new", "old", "pending", "fifth"].map { .string($0) })
    #expect(try contact(5, fresh)[Contact.scoreKey] == 2)
  }

  @Test(arguments: TestStoreKind.allCases)
  func relationshipsOfSubentitiesLeadToWhatIsThere(_ kind: TestStoreKind) throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Member", .attribute("memberID", .integer64, optional: true)),
      .entity("Worker", parent: "Member", .toOne("firm", "Firm", inverse: "workers")),
      .entity(
        "Firm",
        .attribute("firmID", .integer64, optional: true),
        .attribute("name", .string, optional: true),
        .toMany("workers", "Worker", inverse: "firm")
      ),
    ])
    let stack = try ImportStack(kind, model)
    try stack.context.importObjects(entityName: "Worker", from: [["memberID": 7], ["memberID": 8]])
    try stack.context.importObjects(entityName: "Firm", from: [["firmID": 3], ["firmID": 4]])
    try stack.context.save()
    // Only the objects that are found tell that their records may have firms: a key, and a record.
    let context = ManagedObjectContext(stack.coordinator)
    let workers = try context.importObjects(
      entityName: "Member",
      from: [["memberID": 7, "firm": 3], ["memberID": 8, "firm": ["firmID": 4, "name": "Four"]]]
    )
    try context.save()
    let firms = try context.fetch(entityName: "Firm")
    #expect(firms.count == 2)
    let found = try workers.compactMap { try $0.value(forKey: "firm") as? ManagedObject }
    #expect(Set(found) == Set(firms))
    #expect(try found.last?.value(forKey: "name") as? String == "Four")
  }

  @Test(arguments: TestStoreKind.allCases)
  func objectsAreFoundByTheValuesThatTheyHaveNow(_ kind: TestStoreKind) throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Person",
        .attribute("personID", .integer64, optional: true),
        .attribute("email", .string, optional: true)
      ),
      .entity(
        "Book",
        .toOne("author", "Person", inverse: nil, userInfo: ["relatedByAttribute": "email"]),
        .toOne("editor", "Person", inverse: nil)
      ),
    ])
    let stack = try ImportStack(kind, model)
    let people = try stack.context.importObjects(entityName: "Person", from: [["personID": 1, "email": "a@x"]])
    try stack.context.save()
    let books = try stack.context.importObjects(
      entityName: "Book",
      from: [
        ["author": "a@x", "editor": ["personID": 1, "email": "b@x"]], ["author": "a@x"], ["author": "b@x"],
        ["author": "a@x"],
      ]
    )
    let authors = try books.compactMap { try $0.value(forKey: "author") as? ManagedObject }
    #expect(try authors.map { try $0.value(forKey: "email") as? String } == ["b@x", "a@x", "b@x", "a@x"])
    #expect(authors[0] === people[0] && authors[1] !== people[0] && authors[2] === people[0])
    #expect(authors[3] === authors[1])
    #expect(try stack.context.count(entityName: "Person") == 2)
  }

  @Test func aHookThatChangesKeysIsFollowed() throws {
    let context = try ImportStack().context
    let contacts = try context.importObjects(Contact.self, from: [["id": 1, "becomes": 2], ["id": 1], ["id": 2]])
    #expect(contacts.map { $0[Contact.idKey] } == [2, 1, 2])
    #expect(contacts[0] === contacts[2] && contacts[0] !== contacts[1])
  }

  @Test(arguments: TestStoreKind.allCases)
  func ofSeveralWithOneKeyTheNextIsFoundWhereTheFirstHasGone(_ kind: TestStoreKind) throws {
    let context = try ImportStack(kind).context
    for _ in 0..<2 { try context.insert(Contact.self)[Contact.idKey] = 1 }
    try context.save()
    let contacts = try context.importObjects(
      Contact.self,
      from: [["id": 1, "leaves": true], ["id": 1, "full_name": "Ann"]]
    )
    #expect(contacts.count == 1)
    #expect(try names(context.fetch(Contact.self)) == [.string("Ann")])
  }

  @Test func objectsAreFetchedTogether() throws {
    let stack = try ImportStack(.incremental)
    let records = (0..<1200).map { number -> ImportValue in
      ["id": .scalar(.integer(number)), "friends": [.scalar(.integer(number / 2))], "tags": ["food"]]
    }
    try stack.context.importObjects(Contact.self, from: records)
    try stack.context.save()
    var portions: [Int] = []
    var options = ImportOptions()
    options.progressHandler = { portions.append($0) }
    let fresh = ManagedObjectContext(stack.coordinator)
    #expect(try fresh.importObjects(Contact.self, from: records, options: options).count == 1200)
    #expect(portions == [500, 1000, 1200])
    #expect(try fresh.count(Contact.self) == 1200)
    #expect(try fresh.count(entityName: "Tag") == 1)
    #expect(!fresh.hasChanges)
  }

  // MARK: Relationships

  @Test(arguments: TestStoreKind.allCases)
  func recordsAreInRecords(_ kind: TestStoreKind) throws {
    let stack = try ImportStack(kind)
    let context = stack.context
    let records: [ImportValue] = [
      [
        "id": 1, "job": ["company": ["id": "A", "name": "Acme"]], "tags": ["b", ["name": "a"], "c"],
        "friends": [["id": 2, "full_name": "Bob", "friends": [1]], 3], "notes": [["text": "x"], ["text": "y"]],
      ],
      ["id": 3, "full_name": "Cid", "job": ["company": "A"], "tags": "b"],
    ]
    let contacts = try context.importObjects(Contact.self, from: records)
    try context.save()
    let (ann, cid) = (contacts[0], contacts[1])
    let bob = try contact(2, context)
    #expect(try context.count(Contact.self) == 3 && context.count(Company.self) == 1)
    #expect(ann[Contact.employerKey]?[Company.nameKey] == "Acme")
    #expect(cid[Contact.employerKey] === ann[Contact.employerKey])
    #expect(Set(ann[Contact.friendsKey]) == [bob, cid] && bob[Contact.friendsKey] == [ann])
    #expect(try names(ann[Contact.tagsKey]) == ["b", "a", "c"].map { .string($0) })
    #expect(cid[Contact.tagsKey].first === ann[Contact.tagsKey].first)
    #expect(ann[Contact.notesKey].count == 2)
    #expect(cid.events == ["will", "did 1"])

    // To-many relationships grow; null empties.
    try context.importObject(Contact.self, from: ["id": 1, "tags": ["d", "a"], "job": ["company": nil]])
    #expect(try names(ann[Contact.tagsKey]) == ["b", "a", "c", "d"].map { .string($0) })
    #expect(ann[Contact.employerKey] == nil)
    var options = ImportOptions()
    options.replacesToManyRelationships = true
    try context.importObject(Contact.self, from: ["id": 1, "tags": ["d", "a"]], options: options)
    #expect(try names(ann[Contact.tagsKey]) == ["d", "a"].map { .string($0) })
    try context.importObject(Contact.self, from: ["id": 1, "tags": nil])
    #expect(ann[Contact.tagsKey].isEmpty && cid[Contact.tagsKey].count == 1)
    #expect(try context.count(entityName: "Tag") == 4)
    try context.save()
    let fresh = ManagedObjectContext(stack.coordinator)
    let friends = try contact(1, fresh)[Contact.friendsKey]
    #expect(try friends.count == 2 && fresh.count(Contact.self) == 3)
  }

  @Test func entitiesByName() throws {
    let context = try ImportStack().context
    let notes = try context.importObjects(entityName: "Note", from: [["text": "x"], ["text": "x"]])
    #expect(notes.count == 2 && notes[0] !== notes[1])
    #expect(try context.importObjects(entityName: "Note", fromJSON: Data("{}".utf8)).count == 1)
    #expect(persistenceError { try context.importObjects(entityName: "Nobody", from: []) }?.code == .entityUnknown)
  }

  @Test func valuesOfOneObject() throws {
    let context = try ImportStack().context
    let company = try context.insert(Company.self)
    try company.importValues(from: ["id": "A", "staff": [["id": 1], 2]])
    #expect(company[Company.idKey] == "A" && company[Company.staffKey].count == 2)
    let error = persistenceError { try company.importValues(from: ["name": ["a"], "staff": 3]) }
    #expect(error?.context.importFaults.map(\.path) == ["name"])
    #expect(company[Company.staffKey].count == 2)
    #expect(persistenceError { try company.importValues(from: 7) }?.code == .importFailed)
    #expect(try context.count(Contact.self) == 2)
  }

  // MARK: Hooks

  @Test func objectsHaveASay() throws {
    let context = try ImportStack().context
    let kept = try #require(try context.importObject(Contact.self, from: ["id": 1, "full_name": "kept"]))
    let imported = try context.importObjects(
      Contact.self,
      from: [
        ["id": 1, "full_name": "no", "refused": true], ["id": 2, "refused": true], ["id": 3, "score": ["points": 7]],
        ["id": 4, "leaves": true], ["id": 5, "friends": [["id": 6, "refused": true], ["id": 1, "refused": true]]],
      ]
    )
    #expect(imported.map { $0[Contact.idKey] } == [1, 3, 5])
    #expect(kept[Contact.nameKey] == "kept")
    #expect(imported[1][Contact.scoreKey] == 7)
    #expect(imported[2][Contact.friendsKey] == [kept])
    #expect(try context.count(Contact.self) == 3)
    let error = persistenceError {
      try context.importObjects(Contact.self, from: [["id": 7], ["id": 8, "refused": "with an error"]])
    }
    #expect(error?.context.importFaults.map(\.path) == ["[1]"])
    #expect(error?.underlyingError is Contact.Refusal)
    #expect(try context.count(Contact.self) == 3)
  }

  // MARK: Other parsers

  @Test func dictionaries() throws {
    let context = try ImportStack().context
    let token = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 7)
    let dictionaries: [[String: Any]] = [
      [
        "id": UInt8(1), "full_name": "Ann", "updated": date, "token": token, "photo": Data([1]),
        "rank": Int?.none as Any,
        "tags": ["a", ["name": "b"]], "job": ["company": ["id": "A"]], "balance": Decimal(2), "active": true,
      ]
    ]
    let contact = try #require(try context.importObjects(Contact.self, fromDictionaries: dictionaries).first)
    #expect(contact[Contact.idKey] == 1 && contact[Contact.updatedKey] == date && contact[Contact.balanceKey] == 2)
    #expect(
      contact[Contact.rankKey] == nil && contact[Contact.tagsKey].count == 2 && contact[Contact.activeKey] == true
    )
    #expect(contact[Contact.employerKey]?[Company.idKey] == "A")
    #expect(try contact.propertyValue(forKey: "token") == .uuid(token))
    let unfit = persistenceError {
      try context.importObjects(Contact.self, fromDictionaries: [["id": 2], ["tags": [["name": 1...2]]]])
    }
    #expect(unfit?.context.importFaults.map(\.path) == ["[1].tags[0].name"])
    #expect(try context.count(Contact.self) == 1)
  }

  @Test func foundationsObjects() throws {
    let context = try ImportStack().context
    let json = #"[{"id": 1, "full_name": null, "score": 0.5, "active": false, "tags": ["a"], "seen": 1e12}]"#
    let parsed = try JSONSerialization.jsonObject(with: Data(json.utf8))
    let dictionaries = try #require(parsed as? [[String: Any]])
    let contact = try #require(try context.importObjects(Contact.self, fromDictionaries: dictionaries).first)
    #expect(contact[Contact.idKey] == 1 && contact[Contact.nameKey] == nil && contact[Contact.scoreKey] == 0.5)
    #expect(contact[Contact.activeKey] == false && contact[Contact.tagsKey].count == 1)
    #expect(contact[Contact.seenKey]?.timeIntervalSince1970 == 1e9)
    #expect(try context.count(entityName: "Tag") == 1)
  }
}
