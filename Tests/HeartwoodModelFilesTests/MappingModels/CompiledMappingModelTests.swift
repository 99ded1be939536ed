import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Compiled mapping models cannot be read, and are never passed over in silence.
@Suite struct CompiledMappingModelTests {
  @Test func oneIsRefused() {
    let error = #expect(throws: ModelFileError.self) {
      try MappingModelFile(contentsOf: URL(filePath: "/tmp/Moody.cdm"))
    }
    #expect(error?.message.contains("compiled mapping model") == true)
    #expect(error?.message.contains("Give the .xcmappingmodel") == true)
  }

  @Test func oneBesideAModelIsRefusedUnlessItsSourceIsThere() throws {
    let folder = try ScratchFolder()
    let version = folder.url.appending(path: "Notes.xcdatamodeld/Notes.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    let contents = """
      <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Note">
      <attribute name="name" optional="YES" attributeType="String"/></entity></model>
      """
    try Data(contents.utf8).write(to: version.appending(path: "contents"))
    let bundle = folder.url.appending(path: "Notes.xcdatamodeld")
    try Data([1]).write(to: folder.url.appending(path: "NotesToNotes2.cdm"))
    var options = StoreOptions()
    let error = #expect(throws: ModelFileError.self) { try options.setMigrations(fromModelAt: bundle) }
    #expect(error?.file.hasSuffix("NotesToNotes2.cdm") == true)
    #expect(error?.message.contains("Put the .xcmappingmodel that it was made of beside it") == true)
    let source = folder.url.appending(path: "NotesToNotes2.xcmappingmodel")
    try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
    let missing = #expect(throws: ModelFileError.self) { try options.setMigrations(fromModelAt: bundle) }
    #expect(missing?.file.contains("NotesToNotes2.xcmappingmodel") == true)
    try FileManager.default.removeItem(at: source)
    try FileManager.default.removeItem(at: folder.url.appending(path: "NotesToNotes2.cdm"))
    try options.setMigrations(fromModelAt: bundle)
    #expect(options[.olderModels].count == 1)
  }
}
