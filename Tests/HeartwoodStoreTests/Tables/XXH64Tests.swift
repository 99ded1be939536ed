import Testing

@testable import HeartwoodStore

@Suite struct XXH64Tests {
  private static let seed: UInt64 = 2_654_435_761

  /// The bytes over which xxHash's own self-test publishes hashes.
  private static func selfTestBytes(_ count: Int) -> [UInt8] {
    var generator = seed
    return (0..<count).map { _ in
      defer { generator &*= 0x9E37_79B1_85EB_CA8D }
      return UInt8(truncatingIfNeeded: generator >> 56)
    }
  }

  @Test(
    arguments: [
      (0, 0, 0xEF46_DB37_51D8_E999), (0, seed, 0xAC75_FDA2_929B_17EF),
      (1, 0, 0xE934_A84A_DB05_2768), (1, seed, 0x5014_6076_43A9_B4C3),
      (4, 0, 0x9136_A0DC_A574_57EE),
      (14, 0, 0x8282_DCC4_994E_35C8), (14, seed, 0xC3BD_6BF6_3DEB_6DF0),
      (222, 0, 0xB641_AE8C_B691_C174), (222, seed, 0x20CB_8AB7_AE10_C14A),
    ] as [(Int, UInt64, UInt64)]
  )
  func publishedVectors(count: Int, seed: UInt64, expected: UInt64) {
    let hash = Self.selfTestBytes(count).withUnsafeBytes { XXH64.hash($0, seed: seed) }
    #expect(hash == expected, "\(String(hash, radix: 16))")
  }

  @Test(
    arguments: [
      ("abc", 0x44BC_2CF5_AD77_0999), ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
    ] as [(String, UInt64)]
  )
  func publishedTexts(text: String, expected: UInt64) {
    #expect(Array(text.utf8).withUnsafeBytes { XXH64.hash($0) } == expected)
  }
}
