import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting
import TestSupport
import Testing

/// A model file with something wrong with it, and what is said about it.
struct FaultyModelFile: Sendable, CustomTestStringConvertible {
  let name: String
  let line: Int?
  let message: String
  let text: String

  var testDescription: String { name }
}

@Suite("Faulty model files")
struct ModelFileErrorTests {
  @Test("What is wrong is said with the line", arguments: FaultyModelFile.all)
  func faulty(_ given: FaultyModelFile) throws {
    let folder = try ScratchFolder()
    let file = try folder.write(given.text, to: "contents")
    let error = #expect(throws: ModelFileError.self) { try DataModelFile(contentsOf: file) }
    #expect(error?.line == given.line)
    #expect(error?.message.contains(given.message) == true, "\(String(describing: error))")
    #expect(error?.file == file.path)
  }

  @Test("All faults of a model are listed, each with its line")
  func allFaults() throws {
    let folder = try ScratchFolder()
    let text = """
      <model>
        <entity name="A" parentEntity="B">
          <attribute name="x y" attributeType="String"/>
          <relationship name="r" destinationEntity="C"/>
          <uniquenessConstraints>
            <uniquenessConstraint>
              <constraint value="z"/>
            </uniquenessConstraint>
          </uniquenessConstraints>
        </entity>
      </model>
      """
    let file = try folder.write(text, to: "contents")
    let error = #expect(throws: ModelFileError.self) { try DataModelFile(contentsOf: file) }
    #expect(error?.problems.map(\.line) == [2, 3, 4, 6])
    let lines = try #require(error?.description.split(separator: "\n"))
    #expect(lines.count == 4)
    #expect(lines.first?.hasPrefix("\(file.path):2: A: The parent “B” does not exist.") == true)
  }

  @Test("A file that was cut short gives an error at its end, wherever it was cut")
  func truncated() throws {
    let folder = try ScratchFolder()
    let bytes = Data(ModelFixture.everything.utf8)
    for length in 0..<bytes.count {
      let file = try folder.write(bytes.prefix(length), to: "contents")
      #expect(throws: ModelFileError.self, "\(length)") { try DataModelFile(contentsOf: file) }
    }
  }

  @Test("Changed bytes give a model or an error, never a trap")
  func mutated() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let folder = try ScratchFolder()
    for fixture in [ModelFixture.everything, ModelFixture.notes] {
      for _ in 0..<2_000 {
        let file = try folder.write(generator.mutated(Data(fixture.utf8)), to: "contents")
        do throws(ModelFileError) {
          let model = try DataModelFile(contentsOf: file).model
          #expect(throws: Never.self, "seed \(seed)") { try ManagedObjectModel(encoded: model.encoded()) }
        } catch {
          #expect(!error.message.isEmpty, "seed \(seed)")
        }
      }
    }
  }
}
