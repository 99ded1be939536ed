import Foundation
import Heartwood
import HeartwoodDocuments
import HeartwoodGraph
import HeartwoodTesting
import Testing

/// The code of the article "Documents": it says what is here, word for word.
@MainActor @Suite struct DocumentsGuideTests {
  private let files = DocumentFiles()
  private let url = DocumentFiles.url

  private func document() throws -> PersistentDocument {
    try files.write(["Zoe"])
    let coordinator = try files.coordinator()
    let document = try PersistentDocument(coordinator, contentsOf: url)
    let ann = try document.context.insert(Person.self)
    ann.name = "Ann"
    #expect(document.hasUnsavedChanges)
    try document.save()
    return document
  }

  @Test func aDocumentGoesElsewhere() throws {
    let document = try document()
    try document.save(as: URL(filePath: "/folder/people.xml"))
    try document.saveCopy(to: URL(filePath: "/folder/copy.plist"))
    #expect(try files.names(in: URL(filePath: "/folder/people.xml")) == ["Ann", "Zoe"])
    #expect(try files.names(in: URL(filePath: "/folder/copy.plist")) == ["Ann", "Zoe"])
  }

  @Test func whatOthersDoIsNoticed() throws {
    let document = try document()
    document.startAutosaving(every: .seconds(30))
    defer { document.stopAutosaving() }
    try files.move(url, to: URL(filePath: "/folder/moved.heartwood"))
    switch try document.checkFile() {
    case .absent, .unchanged: try document.save()
    case .changed: try document.revert()
    case .moved(let path): try document.setURL(URL(filePath: path))
    case .removed: try document.save(as: url)
    }
    #expect(document.url?.path == "/folder/moved.heartwood")
  }

  @Test func whatThereIsToSaveIsShown() async throws {
    let document = try document()
    var isEdited = true
    for await state in document.states {
      isEdited = state.hasUnsavedChanges
      if !isEdited { break }
    }
    #expect(!isEdited)
  }

  @Test func kindsOfDocumentsAreDeclared() throws {
    let registry = try StoreRegistry([CSVStore.self])
    let (files, infoPlist) = (files.memory, URL(filePath: "/Info.plist"))
    let list = """
      <plist version="1.0"><dict><key>CFBundleDocumentTypes</key><array><dict>
      <key>CFBundleTypeExtensions</key><array><string>todo</string></array>
      <key>NSPersistentStoreTypeKey</key><string>CSV</string>
      </dict></array></dict></plist>
      """
    try files.setContents(Array(list.utf8), ofFileAtPath: infoPlist.path)
    try registry.declare(try registry.documentTypes(fromInfoPlistAt: infoPlist, in: files))
    try registry.declare([DocumentType(name: "Errands", storeType: .csv, fileExtensions: ["errands"])])
    #expect(registry.types(forFileName: "a.todo") == [.csv])
    #expect(registry.types(forFileName: "a.errands") == [.csv])
  }
}
