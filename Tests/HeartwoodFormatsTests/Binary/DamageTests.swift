import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodFormats

/// Every way to lose or change something of a file: it is refused, with the offset, and never a trap.
@Suite struct DamageTests {
  /// What reading `bytes` throws; nil if they are believed.
  static func refusal(of bytes: [UInt8], by store: SampleStore) -> PersistenceError? {
    do {
      _ = try store.read(bytes)
      return nil
    } catch {
      return error as? PersistenceError
    }
  }

  private static func isRefused(_ bytes: [UInt8], by store: SampleStore) -> Bool {
    guard let error = refusal(of: bytes, by: store) else { return false }
    let codes: Set<PersistenceError.Code> = [.fileCorrupt, .fileMalformed, .fileFormatUnsupported]
    return codes.contains(error.code) && error.context.byteOffset != nil && error.context.path != nil
  }

  @Test func cutShortAtEveryLength() throws {
    let (store, bytes) = (try TinySample.store(), try TinySample.file())
    #expect(!Self.isRefused(bytes, by: store))
    for length in bytes.indices {
      #expect(Self.isRefused(Array(bytes[..<length]), by: store), "cut at \(length)")
    }
  }

  @Test func everyBitFlipped() throws {
    let (store, bytes) = (try TinySample.store(), try TinySample.file())
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << UInt8(bit)
        #expect(Self.isRefused(changed, by: store), "bit \(bit) of byte \(place)")
      }
    }
  }

  @Test func aBitOfEveryByteOfTheGoldenFileFlipped() throws {
    let (store, bytes) = (try GoldenSample.store(), try GoldenSample.store().writeGroups(of: GoldenSample.contents()))
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 1 << UInt8(place % 8)
      #expect(Self.isRefused(changed, by: store), "byte \(place)")
    }
  }

  @Test func appendedAndMissingBlocks() throws {
    let (store, bytes) = (try TinySample.store(), try TinySample.file())
    #expect(Self.isRefused(bytes + [UInt8](repeating: 0, count: 64), by: store))
    #expect(Self.isRefused(bytes + bytes, by: store))
    for start in stride(from: 0, to: bytes.count, by: 64) {
      let rest = Array(bytes[..<start] + bytes[(start + 64)...])
      #expect(Self.isRefused(rest, by: store), "block at \(start) left out")
    }
  }

  @Test func otherFiles() throws {
    let store = try TinySample.store()
    let core = [UInt8]("CoreData".utf8) + [UInt8](repeating: 0, count: 56)
    let refused = try #require(Self.refusal(of: core, by: store))
    #expect(refused.code == .fileFormatUnsupported && refused.message.contains("Apple's Core Data"))
    #expect(Self.refusal(of: Array("#E899556C".utf8), by: store)?.code == .fileMalformed)
    #expect(Self.refusal(of: [], by: store)?.code == .fileCorrupt)
    #expect(!BinaryStore.recognizes(prefix: core) && CoreDataBinaryStore.recognizes(prefix: core))
  }

  @Test func aNewerReaderIsNeeded() throws {
    var editor = try BinaryFileEditor(TinySample.file())
    editor.header.set(UInt32(5), at: 8)
    #expect(
      Self.refusal(of: editor.assembled(), by: try TinySample.store()) == nil,
      "version 5 that version 3 can read"
    )
    editor.header.set(UInt32(5), at: 12)
    let error = try #require(Self.refusal(of: editor.assembled(), by: try TinySample.store()))
    #expect(
      error.code == .fileFormatUnsupported && error.message.contains("version 5") && error.context.byteOffset == 12
    )
  }
}
