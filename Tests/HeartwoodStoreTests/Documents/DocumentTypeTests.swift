import Foundation
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct DocumentTypeTests {
  private let registry: StoreRegistry

  init() throws {
    registry = try StoreRegistry([PlainStore.self, NarrowStore.self, InMemoryStore.self])
  }

  private func list(_ entries: String, more: String = "") -> Data {
    Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict>
      <key>CFBundleName</key><string>Errands</string>
      <key>CFBundleDocumentTypes</key><array>\(entries)</array>\(more)
      </dict></plist>
      """.utf8
    )
  }

  private func entry(_ content: String) -> String { "<dict>\(content)</dict>" }

  private static let errands = """
    <key>CFBundleTypeName</key><string>Errands</string>
    <key>CFBundleTypeExtensions</key><array><string>Errands</string><string>todo</string></array>
    <key>CFBundleTypeMIMETypes</key><array><string>Text/X-Errands</string></array>
    <key>CFBundleTypeRole</key><string>Viewer</string>
    <key>NSPersistentStoreTypeKey</key><string>plain</string>
    """

  @Test func registeredTypesAreDocumentTypes() {
    #expect(registry.documentTypes.map(\.storeType) == ["Plain", "Narrow"])
    #expect(registry.documentTypes.first?.name == PlainStore.typeDescription.displayName)
    #expect(registry.documentTypes.first?.role == .editor)
  }

  @Test func anInfoPlistDeclaresTypes() throws {
    let data = list(entry(Self.errands) + entry("<key>CFBundleTypeName</key><string>Picture</string>"))
    let types = try registry.documentTypes(fromInfoPlist: data)
    let expected = DocumentType(
      name: "Errands",
      storeType: "Plain",
      fileExtensions: ["errands", "todo"],
      mimeTypes: ["text/x-errands"],
      role: .viewer
    )
    #expect(types == [expected])
    // They are known once they are declared.
    #expect(registry.types(forFileName: "a.todo").isEmpty)
    try registry.declare(types)
    #expect(registry.documentTypes.first == expected)
    #expect(registry.types(forFileName: "a.TODO") == ["Plain"])
    #expect(registry.documentTypes(forFileName: "a.todo") == [expected])
    #expect(registry.type(forMIMEType: "text/x-errands; charset=utf-8") == "Plain")
    registry.unregister("Plain")
    #expect(registry.types(forFileName: "a.todo").isEmpty)
  }

  @Test func aBinaryInfoPlistIsReadFromAFile() throws {
    let list: [String: Any] = [
      "CFBundleDocumentTypes": [["NSPersistentStoreTypeKey": "Narrow", "CFBundleTypeExtensions": ["x"]]]
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    let files = InMemoryFileSystem()
    let url = URL(filePath: "/App/Info.plist")
    try files.setContents([UInt8](data), ofFileAtPath: url.path)
    let types = try registry.documentTypes(fromInfoPlistAt: url, in: files)
    #expect(types.map(\.fileExtensions) == [["x"]])
    #expect(types.first?.name == NarrowStore.typeDescription.displayName)
    try files.setContents([1, 2, 3], ofFileAtPath: url.path)
    let error = #expect(throws: PersistenceError.self) {
      try registry.documentTypes(fromInfoPlistAt: url, in: files)
    }
    #expect(error?.code == .fileMalformed)
    #expect(error?.context.path == url.path)
  }

  @Test func uniformTypesAreTakenFromTheirDeclarations() throws {
    let data = list(
      entry(
        """
        <key>LSItemContentTypes</key><array><string>com.example.errands</string></array>
        <key>NSPersistentStoreTypeKey</key><string>Plain</string>
        """
      ),
      more: """
        <key>UTExportedTypeDeclarations</key><array><dict>
        <key>UTTypeIdentifier</key><string>com.example.errands</string>
        <key>UTTypeTagSpecification</key><dict>
        <key>public.filename-extension</key><array><string>errands</string></array>
        <key>public.mime-type</key><string>text/x-errands</string>
        </dict></dict></array>
        """
    )
    let types = try registry.documentTypes(fromInfoPlist: data)
    #expect(types.first?.fileExtensions == ["errands"])
    #expect(types.first?.mimeTypes == ["text/x-errands"])
    #expect(types.first?.contentTypes == ["com.example.errands"])
    try registry.declare(types)
    #expect(registry.type(forContentType: "com.example.Errands") == "Plain")
    #expect(registry.type(forContentType: "com.example.other") == nil)
  }

  @Test func whatAnEntryDoesNotSayIsTheStoreTypes() throws {
    let data = list(entry("<key>NSPersistentStoreTypeKey</key><string>Plain</string>"))
    let own = PlainStore.typeDescription
    let type = try #require(try registry.documentTypes(fromInfoPlist: data).first)
    #expect(type.name == own.displayName)
    #expect(type.fileExtensions == own.fileExtensions)
    #expect(type.mimeTypes == own.mimeTypes)
  }

  @Test func aListWithoutDocumentsDeclaresNone() throws {
    let data = Data("<plist version=\"1.0\"><dict/></plist>".utf8)
    #expect(try registry.documentTypes(fromInfoPlist: data).isEmpty)
  }

  @Test(
    arguments: [
      ("<key>NSPersistentStoreTypeKey</key><string>SQLite</string>", .storeTypeUnknown, "SQLite"),
      (
        "<key>NSPersistentStoreTypeKey</key><integer>7</integer>", .fileMalformed,
        "CFBundleDocumentTypes[0].NSPersistentStoreTypeKey"
      ),
      (
        "<key>CFBundleTypeExtensions</key><string>todo</string>", .fileMalformed,
        "CFBundleDocumentTypes[0].CFBundleTypeExtensions"
      ),
      (
        "<key>NSPersistentStoreTypeKey</key><string>Plain</string><key>CFBundleTypeRole</key><string>Owner</string>",
        .valueUnsupported, "Owner"
      ),
      (
        "<key>NSPersistentStoreTypeKey</key><string>Plain</string><key>CFBundleTypeExtensions</key><array><string>*</string></array>",
        .valueUnsupported, "\"*\""
      ),
    ] as [(String, PersistenceError.Code, String)]
  )
  func whatIsWrongIsNamed(_ content: String, _ code: PersistenceError.Code, _ name: String) throws {
    let error = #expect(throws: PersistenceError.self) {
      try registry.documentTypes(fromInfoPlist: list(entry(content)))
    }
    #expect(error?.code == code)
    #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
  }

  @Test func declaringIsAllOrNothing() throws {
    let sound = DocumentType(name: "Sound", storeType: "Plain", fileExtensions: ["sound"])
    for wrong in [
      DocumentType(name: "Wrong", storeType: "Other", fileExtensions: ["wrong"]),
      DocumentType(name: "Wrong", storeType: "Plain", fileExtensions: [".wrong"]),
    ] {
      let error = #expect(throws: PersistenceError.self) { try registry.declare([sound, wrong]) }
      #expect(error?.message.contains("Wrong") == true)
    }
    #expect(registry.types(forFileName: "a.sound").isEmpty)
  }

  @Test func declaredTypesGoBeforeWhatStoresSay() throws {
    try registry.declare([DocumentType(name: "Mine", storeType: "Narrow", fileExtensions: ["plain"])])
    #expect(registry.types(forFileName: "a.plain") == ["Narrow", "Plain"])
    let files = InMemoryFileSystem()
    #expect(try registry.type(ofFileAt: "/new.plain", in: files) == "Narrow")
    // Content tells better than a name.
    try files.setContents(Array("{\"metadata\"".utf8), ofFileAtPath: "/old.plain")
    #expect(try registry.type(ofFileAt: "/old.plain", in: files) == "Plain")
  }
}
