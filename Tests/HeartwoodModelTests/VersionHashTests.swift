import Foundation
import HeartwoodModel
import Testing

@Suite("Version hashes")
struct VersionHashTests {
  private func hash(_ entities: EntityDefinition...) throws -> String {
    let model = try ManagedObjectModel(entities: entities)
    return try #require(model.entities.first).versionHash.map { String(byte: $0) }.joined()
  }

  @Test("An entity whose hash Core Data is known to give")
  func knownHash() throws {
    let hash = try hash(
      .entity("User", .attribute("petName", .string, optional: true), .attribute("name", .string))
    )
    #expect(hash == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
  }

  @Test("Every part of the formula, against a second implementation of it")
  func wholeFormula() throws {
    let hash = try hash(
      EntityDefinition(
        name: "Child",
        superentityName: "Base",
        properties: [
          .attribute(AttributeDescription(name: "blob", type: .binary, allowsExternalBinaryDataStorage: true)),
          .attribute(
            AttributeDescription(name: "count", type: .integer64, isOptional: false, versionHashModifier: "2")
          ),
          .attribute(AttributeDescription(name: "hidden", type: .string, isTransient: true)),
          .toMany("parts", "Base", inverse: "whole", ordered: true, count: 1...Int.max),
        ],
        uniquenessConstraints: [["code", "count"]],
        versionHashModifier: "new"
      ),
      .entity("Base", abstract: true, .attribute("code", .string), .toOne("whole", "Child", inverse: "parts"))
    )
    #expect(hash == "798a9de7620a2ea6fc7372706a6afdb7e5d0fc2ed91eaa6135268f35ba5ddc58")
  }

  @Test("The digest and the checksum of a model, against a second implementation of them")
  func modelHashes() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("b", .attribute("x", .integer16)),
      .entity("User", .attribute("name", .string), .attribute("petName", .string, optional: true)),
    ])
    #expect(model.versionChecksum == "aCeaGcfcRZorUq0qi7atcZEWo8vF30zbBeehLinCq5A=")
    #expect(
      model.versionHashesDigest
        == "EuE16VanYNdUnv4eVoi8YSz/JsV9OP0iYrlFW/6U7/998v+dwDqEZaVUCrSG/B+VAGMkH/Cqx/tgSK48ZIRifA=="
    )
    #expect(model.entityVersionHashesByName["User"] == model.entity(named: "User")?.versionHash)
  }

  @Test(
    "What changes the stored form changes the hash",
    arguments: [
      EntityDefinition.entity("A", .attribute("y", .string), .toOne("r", "A", inverse: nil)),
      .entity("A", .attribute("x", .string, optional: true), .toOne("r", "A", inverse: nil)),
      .entity("A", .attribute("x", .uri), .toOne("r", "A", inverse: nil)),
      .entity("A", .attribute("x", .string), .toMany("r", "A", inverse: nil)),
      .entity("A", .attribute("x", .string), .toOne("r", "A", inverse: "r")),
      .entity("A", unique: [["x"]], .attribute("x", .string), .toOne("r", "A", inverse: nil)),
      .entity("A", abstract: true, .attribute("x", .string), .toOne("r", "A", inverse: nil)),
      .entity("A", .attribute("x", .string)),
    ]
  )
  func sensitive(_ changed: EntityDefinition) throws {
    let original = EntityDefinition.entity("A", .attribute("x", .string), .toOne("r", "A", inverse: nil))
    #expect(try hash(original) != hash(changed))
  }

  @Test(
    "What stores do not see leaves the hash alone",
    arguments: [
      EntityDefinition.entity("A", .toOne("r", "A", inverse: nil), .attribute("x", .string)),
      .entity("A", .attribute("x", .string, default: .string("a")), .toOne("r", "A", inverse: nil, deleteRule: .deny)),
      .entity(
        "A",
        .attribute("x", .string, rules: AttributeRules(minLength: 1, maxLength: 9, pattern: "a*")),
        .toOne("r", "A", inverse: nil)
      ),
      .entity("A", renamedFrom: "B", userInfo: ["a": "b"], .attribute("x", .string), .toOne("r", "A", inverse: nil)),
      .entity("A", .attribute("x", .string), .toOne("r", "A", inverse: nil), .attribute("t", .date, transient: true)),
    ]
  )
  func insensitive(_ changed: EntityDefinition) throws {
    let original = EntityDefinition.entity("A", .attribute("x", .string), .toOne("r", "A", inverse: nil))
    #expect(try hash(original) == hash(changed))
  }
}

extension String {
  /// Two small hexadecimal digits.
  init(byte: UInt8) {
    self = (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}
