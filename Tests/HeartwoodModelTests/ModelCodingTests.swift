import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite("Models as JSON")
struct ModelCodingTests {
  @Test("Any model comes back, and gives the same bytes again")
  func roundTrips() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let model = try ManagedObjectModel.random(&generator)
      let data = try model.encoded()
      let copy = try ManagedObjectModel(encoded: data)
      #expect(copy == model, "seed \(seed)")
      #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName, "seed \(seed)")
      #expect(try copy.encoded() == data, "seed \(seed)")
      #expect(try JSONDecoder().decode(ManagedObjectModel.self, from: JSONEncoder().encode(model)) == model)
    }
  }

  @Test("Members that are not known are found at every level, by their paths")
  func unknownMembers() throws {
    let text = """
      {"format":1,"name":"M","entities":[{"name":"A","attributes":[],"properties":[
      {"kind":"attribute","name":"t","type":"string","isOptional":true,"predicates":[
      {"predicate":"SELF != ''","warning":"is empty.","why":1}]},
      {"kind":"relationship","name":"r","destination":"A","type":"x"}],
      "indexes":[{"name":"i","elements":[{"property":"t","order":1}],"where":1}],
      "fetchedProperties":[{"name":"f","request":{"name":"q","entity":"A","sort":1},"x":2}],
      "composites":[{"name":"c","composite":"C","elements":[{"name":"p","attribute":"t","k":0}],"w":1}]},
      {"name":"B","userInfo":{"any":"text"}}],"configurations":{"any":["A"]},
      "fetchRequests":[{"name":"R","entity":"A","fetchLimit":2}]}
      """
    #expect(
      try ManagedObjectModel.unknownMembers(inEncoded: Data(text.utf8)) == [
        "name", "entities[0 “A”].attributes", "entities[0 “A”].properties[0 “t”].isOptional",
        "entities[0 “A”].properties[0 “t”].predicates[0].why", "entities[0 “A”].properties[1 “r”].type",
        "entities[0 “A”].fetchedProperties[0 “f”].x", "entities[0 “A”].fetchedProperties[0 “f”].request.sort",
        "entities[0 “A”].indexes[0 “i”].where", "entities[0 “A”].indexes[0 “i”].elements[0].order",
        "entities[0 “A”].composites[0 “c”].w", "entities[0 “A”].composites[0 “c”].elements[0 “p”].k",
        "fetchRequests[0 “R”].fetchLimit",
      ]
    )
    // A store that a newer version has written is still read.
    #expect(try ManagedObjectModel(encoded: Data(text.utf8)).entities.map(\.name) == ["A", "B"])
  }

  @Test("Whatever is written has no unknown members")
  func knownMembers() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let data = try ManagedObjectModel.random(&generator).encoded()
      #expect(try ManagedObjectModel.unknownMembers(inEncoded: data) == [], "seed \(seed)")
    }
    #expect(try ManagedObjectModel.unknownMembers(inEncoded: SpecificationExample.model().encoded()) == [])
    #expect(throws: DecodingError.self) { try ManagedObjectModel.unknownMembers(inEncoded: Data("{}".utf8)) }
  }

  @Test("What has its usual value is left out")
  func absence() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("A", .attribute("x", .string), .toOne("r", "A", inverse: nil, optional: false))
    ])
    let expected = """
      {"entities":[{"name":"A","properties":[{"kind":"attribute","name":"x","type":"string"},\
      {"destination":"A","kind":"relationship","name":"r"}]}],"format":1}
      """
    #expect(try String(decoding: model.encoded(), as: UTF8.self) == expected)
  }

  @Test("The example of the specification is what is written and read")
  func specification() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Formats/Model/README.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let block = try #require(
      text.components(separatedBy: "```json\n").dropFirst().first?.components(separatedBy: "```").first
    )
    let model = try ManagedObjectModel(encoded: Data(block.utf8))
    #expect(model == (try SpecificationExample.model()))
    let written = try JSONSerialization.jsonObject(with: model.encoded()) as? NSDictionary
    #expect(written == (try JSONSerialization.jsonObject(with: Data(block.utf8)) as? NSDictionary))
  }

  @Test(
    "What is no model is refused",
    arguments: [
      "", "{", "[]", "null", "{}", #"{"format":1}"#, #"{"entities":[]}"#, #"{"format":2,"entities":[]}"#,
      #"{"format":1,"entities":[{}]}"#, #"{"format":1,"entities":[{"name":1}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"name":"x","type":"string"}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"derived","name":"x","type":"string"}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"attribute","name":"x","type":"text"}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"attribute","name":"x","type":"integer16","default":"x"}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"attribute","name":"x","type":"date","minValue":"now"}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"attribute","name":"x","type":"double","maxValue":1}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"attribute","name":"x","type":"string","minLength":"1"}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"relationship","name":"x"}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","indexes":[{"name":"i","elements":[{"property":"x","expression":"x"}]}]}]}"#,
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"relationship","name":"x","destination":"A","maxCount":1e30}]}]}"#,
      String(repeating: "[", count: 100_000),
      #"{"format":1,"entities":"# + String(repeating: #"[{"x":"#, count: 50_000),
    ]
  )
  func refused(_ text: String) {
    #expect(throws: DecodingError.self) { try ManagedObjectModel(encoded: Data(text.utf8)) }
  }

  @Test("A model that is written correctly and has faults is refused with all of them")
  func faults() {
    let text = #"{"format":1,"entities":[{"name":"A","parent":"B","unique":[["x"]]}],"configurations":{"C":["D"]}}"#
    let error = #expect(throws: ModelValidationError.self) { try ManagedObjectModel(encoded: Data(text.utf8)) }
    #expect(error?.faults.map(\.path) == ["A", "A", "configuration C"])
  }

  @Test("Changed bytes give a model or an error, never a trap")
  func mutations() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let original = try SpecificationExample.model().encoded()
    for _ in 0..<2_000 {
      var data = original
      for _ in 0...Int.random(in: 0...2, using: &generator) {
        data[Int.random(in: data.indices, using: &generator)] = UInt8(truncatingIfNeeded: generator.next())
      }
      if let model = try? ManagedObjectModel(encoded: data) {
        #expect(try ManagedObjectModel(encoded: model.encoded()) == model, "seed \(seed)")
      }
    }
  }

  @Test(
    "A default or a bound that does not fit cannot be written",
    arguments: [
      AttributeDescription(name: "x", type: .integer16, defaultValue: .string("a")),
      AttributeDescription(name: "x", type: .integer16, rules: AttributeRules(minValue: .integer(1 << 40))),
      AttributeDescription(name: "x", type: .date, rules: AttributeRules(maxValue: .double(1))),
    ]
  )
  func misfit(_ attribute: AttributeDescription) {
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(attribute) }
  }
}
