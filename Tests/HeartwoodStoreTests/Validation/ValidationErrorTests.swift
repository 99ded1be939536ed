import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct ValidationErrorTests {
  private let entity: EntityDescription

  init() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("E", .attribute("a", .string, rules: AttributeRules(pattern: "x")), .attribute("b", .integer16))
    ])
    entity = try #require(model.entities.first)
  }

  private func faults(_ values: PropertyValue...) -> [ValidationFault] {
    let id = ManagedObjectID.temporary(in: ObjectIDScope(storeIdentifier: nil, entity: entity))
    return RecordValidation.faults(in: values, of: id)
  }

  @Test func oneFaultIsTold() {
    let faults = self.faults(.string("x"), .null)
    let error = PersistenceError.validationFailed(faults)
    #expect(error.code == .validationFailed)
    #expect(error.description == "E.b is required and has no value.")
    #expect(error.context.validationFaults == faults)
    #expect(error.context.objectIDs == faults.map(\.objectID))
    #expect(error.cocoaErrorCode == 1570)
  }

  @Test func severalFaultsAreGathered() {
    let first = self.faults(.null, .null)
    let faults = first + self.faults(.string("y"), .integer(1))
    let error = PersistenceError.validationFailed(faults)
    #expect(error.message.hasPrefix("There are 3 faults: E.a is required"))
    #expect(error.message.hasSuffix("E.a does not match its pattern."))
    #expect(error.context.validationFaults.map(\.kind) == [.missingValue, .missingValue, .patternMismatch])
    #expect(error.context.objectIDs == [faults[0].objectID, faults[2].objectID])
    #expect(error.cocoaErrorCode == 1560)
  }

  @Test func aMessageStaysShort() {
    let faults = (0..<10_000).flatMap { _ in self.faults(.string("x"), .null) }
    let error = PersistenceError.validationFailed(faults)
    #expect(error.message.count < 1_000)
    #expect(error.message.hasPrefix("There are 10000 faults: "))
    #expect(error.context.validationFaults.count == 10_000)
    #expect(error.context.objectIDs.count == 10_000)
  }

  @Test func otherErrorsHaveTheCodeOfTheirKind() {
    #expect(PersistenceError(.fileNotFound, "").cocoaErrorCode == 260)
    #expect(PersistenceError(.capabilityMissing, "").cocoaErrorCode == nil)
    #expect(PersistenceError(.validationFailed, "").cocoaErrorCode == 1550)
  }

  @Test(
    arguments: [
      (.wrongType, 1550), (.missingValue, 1570), (.tooFew, 1580), (.tooMany, 1590), (.deletionDenied, 1600),
      (.tooGreat, 1610), (.tooSmall, 1620), (.tooLate, 1630), (.tooEarly, 1640), (.tooLong, 1660), (.tooShort, 1670),
      (.patternMismatch, 1680),
    ] as [(ValidationFault.Kind, Int)]
  )
  func kindsHaveCoreDatasCodes(_ kind: ValidationFault.Kind, _ code: Int) {
    #expect(kind.cocoaErrorCode == code)
  }
}
