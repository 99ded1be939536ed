import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Files of every type, damaged at many places: salvage never traps, makes nothing up, and tells what it leaves out.
@Suite struct SalvageTests {
  private static let seed: UInt64 = 2_026

  @Test(arguments: SalvageFixture.kinds)
  func aWholeFileIsWrittenAsItIs(_ kind: SalvageFixture.Kind) throws {
    let fixture = try SalvageFixture(kind)
    let original = try fixture.original(24)
    let outcome = try #require(try fixture.salvage(fixture.bytes(of: original), "whole"))
    #expect(outcome.report.isComplete, "\(outcome.report) \(outcome.report.losses)")
    #expect(SalvageFixture.records(outcome.contents) == SalvageFixture.records(original))
    #expect(outcome.report.recordCount == original.count)
    #expect(outcome.contents.metadata.identifier == original.metadata.identifier)
  }

  @Test(arguments: SalvageFixture.kinds)
  func aFileThatWasCutShortGivesWhatIsLeft(_ kind: SalvageFixture.Kind) throws {
    let fixture = try SalvageFixture(kind)
    let contents = try fixture.original(24)
    let original = SalvageFixture.records(contents)
    let bytes = try fixture.bytes(of: contents)
    var (refusals, greatest, trials) = (0, 0, 0)
    for length in stride(from: 1, to: bytes.count, by: max(1, bytes.count / 60)) {
      trials += 1
      guard let outcome = try fixture.salvage(Array(bytes.prefix(length)), "cut at \(length)") else {
        refusals += 1
        continue
      }
      let inventions = SalvageFixture.inventions(outcome, original)
      #expect(
        inventions.isEmpty,
        "cut at \(length) of \(bytes.count): \(inventions.prefix(3)) \(outcome.report.losses)"
      )
      // Of lines that are whole nobody knows whether more followed.
      let endsLine =
        kind.keepsOneEntity && (bytes[length - 1] == UInt8(ascii: "\n") || bytes[length] == UInt8(ascii: "\n"))
      if !endsLine {
        #expect(SalvageFixture.silentLosses(outcome, original) == 0, "cut at \(length): \(outcome.report)")
      }
      greatest = max(greatest, outcome.report.recordCount)
    }
    // What a format of text or of rows has before the cut is there.
    let keepsStart = kind.storeClass.typeDescription.type == .csv || kind.storeClass.typeDescription.type == .xml
    if keepsStart { #expect(greatest >= original.count - 2 && refusals < trials / 2) }
  }

  @Test(arguments: SalvageFixture.kinds)
  func changedBitsAreNoticedOrHarmOneRecord(_ kind: SalvageFixture.Kind) throws {
    let fixture = try SalvageFixture(kind)
    let contents = try fixture.original(16)
    let original = SalvageFixture.records(contents)
    let bytes = try fixture.bytes(of: contents)
    var generator = SeededGenerator(seed: Self.seed)
    var refusals = 0
    let trials = 250
    for trial in 0..<trials {
      var damaged = bytes
      let offset = Int.random(in: bytes.indices, using: &generator)
      damaged[offset] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      let what = "trial \(trial) of seed \(Self.seed), byte \(offset) of \(bytes.count)"
      guard let outcome = try fixture.salvage(damaged, what) else {
        refusals += 1
        continue
      }
      guard kind.detectsEveryChange else { continue }
      let inventions = SalvageFixture.inventions(outcome, original)
      #expect(inventions.isEmpty, "\(what): \(inventions.prefix(3)) \(outcome.report.losses.prefix(5))")
      #expect(SalvageFixture.silentLosses(outcome, original) == 0, "\(what): \(outcome.report)")
      // Of the header of a gzip file some bytes mean nothing.
      #expect(!outcome.report.isComplete || kind.type.rawValue.hasPrefix("Compressed"), "\(what)")
    }
    // A bit costs a record or a column, and seldom all; but of a small file that is compressed or encrypted it costs the only part.
    let isOnePart = kind.type != .binary && kind.detectsEveryChange
    #expect(isOnePart || refusals < trials / 2, "\(refusals) of \(trials) were refused (seed \(Self.seed))")
  }

  /// Files of several parts, of which one is damaged.
  @Test(arguments: SalvageFixture.kinds.filter { ["CompressedCSV", "EncryptedXML"].contains($0.type.rawValue) })
  func aDamagedPartCostsWhatIsInIt(_ kind: SalvageFixture.Kind) throws {
    let fixture = try SalvageFixture(kind)
    let contents = try fixture.original(kind.keepsOneEntity ? 40_000 : 8_000)
    let original = SalvageFixture.records(contents)
    let bytes = try fixture.bytes(of: contents)
    var damaged = bytes
    damaged[bytes.count / 2] ^= 4
    let outcome = try #require(try fixture.salvage(damaged, "one part"))
    let inventions = SalvageFixture.inventions(outcome, original)
    #expect(inventions.isEmpty, "\(inventions.prefix(3))")
    #expect(outcome.report.recordCount > original.count / 3, "\(outcome.report)")
    #expect(outcome.report.recordCount < original.count)
    #expect(outcome.report.hasUncountedLosses || SalvageFixture.silentLosses(outcome, original) == 0)
    let whole = try #require(try fixture.salvage(bytes, "whole"))
    #expect(whole.report.isComplete && whole.report.recordCount == original.count)
  }

  @Test(arguments: SalvageFixture.kinds.filter { !$0.detectsEveryChange })
  func changedLettersHarmNoOtherRecord(_ kind: SalvageFixture.Kind) throws {
    let fixture = try SalvageFixture(kind)
    let contents = try fixture.original(40)
    let original = SalvageFixture.records(contents)
    let bytes = try fixture.bytes(of: contents)
    // A title in the middle, whatever the form of the file.
    let title = Array("The title of the item 20".utf8)
    guard let place = bytes.firstRange(of: title)?.lowerBound else { return }
    var damaged = bytes
    damaged[place + 4] = 0xFF
    let outcome = try #require(try fixture.salvage(damaged, "a byte that is not UTF-8"))
    let inventions = SalvageFixture.inventions(outcome, original)
    #expect(inventions.isEmpty, "\(inventions) \(outcome.report.losses)")
    #expect(!outcome.report.isComplete)
    #expect(outcome.report.recordCount >= original.count - 1)
    #expect(outcome.report.lostRecordCount + outcome.report.lostValueCount == 1, "\(outcome.report.losses)")
  }
}
