import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodModelFiles

/// Attributes without a type, which Xcode calls undefined.
@Suite("Attributes without a type")
struct UndefinedTypeTests {
  private static let lines = """
    <entity name="Post">
    <attribute name="mentions" optional="YES" transient="YES"/>
    <attribute name="picture" transient="YES" attributeType="Undefined" customClassName="Picture"/>
    <attribute name="title" optional="YES" attributeType="String"/>
    </entity>
    """

  private func file() throws -> DataModelFile {
    let folder = try ScratchFolder()
    return try DataModelFile(contentsOf: folder.write("<model>\n\(Self.lines)\n</model>", to: "contents"))
  }

  @Test("They are read, and written without a type")
  func contents() throws {
    let file = try file()
    let entity = try #require(file.model.entity(named: "Post"))
    let mentions = try #require(entity.property(named: "mentions")?.attribute)
    #expect(mentions.type == .undefined && mentions.isTransient && mentions.isOptional)
    #expect(entity.property(named: "picture")?.attribute?.attributeValueClassName == "Picture")
    #expect(file.notes.isEmpty)
    let folder = try ScratchFolder()
    let written = try folder.write(String(decoding: file.model.dataModelContents(), as: UTF8.self), to: "contents")
    #expect(try DataModelFile(contentsOf: written).model == file.model)
    #expect(try String(contentsOf: written, encoding: .utf8).contains("\"Undefined\"") == false)
  }

  @Test("They come back from JSON and from a compiled model")
  func otherForms() throws {
    let model = try file().model
    #expect(try ManagedObjectModel(encoded: model.encoded()) == model)
    let compiled = try ManagedObjectModel(compiled: try #require(model.compiled()), path: "store")
    #expect(compiled.entity(named: "Post")?.definition.properties == model.entity(named: "Post")?.definition.properties)
  }

  @Test("They are no part of the version hash, as all that is transient")
  func hash() throws {
    let model = try file().model
    let other = try ManagedObjectModel(entities: [.entity("Post", .attribute("title", .string, optional: true))])
    #expect(model.entityVersionHashesByName == other.entityVersionHashesByName)
  }

  @Test("One that is stored, or has a default value, is refused with the reason")
  func refused() throws {
    let error = #expect(throws: ModelValidationError.self) {
      try ManagedObjectModel(entities: [
        .entity("A", .attribute("a", .undefined), .attribute("b", .undefined, transient: true, default: .string("x")))
      ])
    }
    #expect(error?.faults.map(\.path) == ["A.a", "A.b"])
    #expect(error?.faults.first?.message.contains("Give it a type, or make it transient.") == true)
  }

  @Test("A type that is not known matters to no store where the attribute is transient")
  func unknownTypes() throws {
    let folder = try ScratchFolder()
    let text =
      "<model><entity name=\"A\"><attribute name=\"a\" transient=\"YES\" attributeType=\"Tensor\"/></entity></model>"
    let file = try DataModelFile(contentsOf: folder.write(text, to: "contents"))
    #expect(file.model.entity(named: "A")?.property(named: "a")?.attribute?.type == .undefined)
    #expect(file.notes.count == 1)
  }
}
