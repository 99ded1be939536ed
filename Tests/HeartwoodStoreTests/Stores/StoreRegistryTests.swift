import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct StoreRegistryTests {
  private let registry: StoreRegistry

  init() throws {
    registry = try StoreRegistry([PlainStore.self, NarrowStore.self, InMemoryStore.self])
  }

  @Test func classesAreListedInTheOrderOfRegistration() throws {
    #expect(registry.typeDescriptions.map(\.type) == ["Plain", "Narrow", .inMemory])
    registry.unregister("PLAIN")
    #expect(registry.typeDescriptions.map(\.type) == ["Narrow", .inMemory])
    try registry.register(PlainStore.self)
    #expect(registry.typeDescriptions.map(\.type) == ["Narrow", .inMemory, "Plain"])
  }

  @Test func typesMatchInAnyCase() throws {
    #expect(StoreType("plain") == "PLAIN")
    #expect(Set<StoreType>(["plain", "Plain", "other"]).count == 2)
    #expect(try registry.format(for: "plAIN").storeClass == PlainStore.self)
    #expect(errorCode { try registry.register(PlainStore.self) } == .storeTypeAlreadyRegistered)
  }

  @Test func twoClassesOfOneTypeAreRefusedTogetherToo() {
    #expect(errorCode { _ = try StoreRegistry([PlainStore.self, PlainStore.self]) } == .storeTypeAlreadyRegistered)
  }

  @Test func unknownTypeIsAnErrorThatListsTheKnown() throws {
    let error = #expect(throws: PersistenceError.self) { try registry.format(for: "XML") }
    #expect(error?.code == .storeTypeUnknown)
    #expect(error?.context.storeType == "XML")
    #expect(error?.message.contains("Registered are Plain, Narrow, InMemory.") == true)
    let none = #expect(throws: PersistenceError.self) { try StoreRegistry().format(for: "XML") }
    #expect(none?.message.contains("None is registered.") == true)
  }

  @Test(
    arguments: [
      ("a.plain", ["Plain", "Narrow"]), ("/b.c/A.PLAIN", ["Plain", "Narrow"]), ("x.narrow", ["Narrow"]),
      ("x.plain.txt", []),
      ("plain", []), (".plain", []), ("folder.plain/file", []), ("", []),
    ] as [(String, [StoreType])]
  )
  func namesTellTypes(_ name: String, _ types: [StoreType]) {
    #expect(registry.types(forFileName: name) == types)
  }

  @Test func mimeTypesTellTypes() {
    #expect(registry.type(forMIMEType: "application/x-plain") == "Plain")
    #expect(registry.type(forMIMEType: "Application/X-Plain; charset=utf-8") == "Plain")
    #expect(registry.type(forMIMEType: "text/plain") == nil)
  }

  @Test func contentDecidesWhereTheNameDoesNot() throws {
    let files = InMemoryFileSystem()
    func type(_ path: String, _ content: String?) throws -> StoreType {
      if let content { try files.setContents(Array(content.utf8), ofFileAtPath: path) }
      return try registry.type(ofFileAt: path, in: files)
    }
    #expect(try type("/a.narrow", "{\"metadata\"") == "Narrow")
    #expect(try type("/a.plain", "narrow") == "Narrow")
    #expect(try type("/b.plain", "{\"metadata\"") == "Plain")
    #expect(try type("/c.plain", "neither") == "Plain")
    #expect(try type("/missing.plain", nil) == "Plain")
    #expect(try type("/d", "{\"metadata\"") == "Plain")
    #expect(try type("/e.other", "narrow and more") == "Narrow")
    for (path, content) in [("/f", "neither"), ("/g", ""), ("/missing", nil)] as [(String, String?)] {
      let error = #expect(throws: PersistenceError.self) { try type(path, content) }
      #expect(error?.code == .storeTypeUndetermined)
      #expect(error?.context.path == path)
      #expect(error?.message.contains("plain, narrow") == true)
    }
    try files.setContents([1], ofFileAtPath: "/folder/file")
    #expect(errorCode { _ = try type("/folder", nil) } == .storeTypeUndetermined)
  }
}
