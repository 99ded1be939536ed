import Foundation
import HeartwoodTesting
import TestSupport
import Testing

@testable import HeartwoodModel

@Suite("SHA-256 and SHA-512")
struct SecureHashTests {
  /// What NIST published examples of with FIPS 180: nothing, less than a block, and what ends at the edge of one.
  struct Example {
    let text: String
    let sha256: String
    let sha512: String
  }

  private static let examples = [
    Example(
      text: "",
      sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      sha512: "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
        + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
    ),
    Example(
      text: "abc",
      sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      sha512: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    ),
    Example(
      text: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      sha256: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
      sha512: "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
        + "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"
    ),
    Example(
      text:
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      sha256: "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
      sha512: "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
        + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
    ),
  ]

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test("Examples that NIST published", arguments: SecureHashTests.examples)
  func publishedExample(_ example: Example) {
    let message = Array(example.text.utf8)
    #expect(Self.hexadecimal(SHA2.sha256(message)) == example.sha256)
    #expect(Self.hexadecimal(SHA2.sha512(message)) == example.sha512)
    #expect(SecureHash.sha256(message) == SHA2.sha256(message))
    #expect(SecureHash.sha512(message) == SHA2.sha512(message))
  }

  @Test("A million letters")
  func manyBlocks() {
    let message = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    #expect(Self.hexadecimal(SHA2.sha256(message)) == expected)
  }

  @Test("Random messages, against Python's library", .enabled(if: PythonReader.exists))
  func randomMessages() throws {
    var generator = SeededGenerator(seed: 1)
    let messages = (0..<120).map { _ in
      (0..<Int.random(in: 0...300, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
    let program = """
      import hashlib, sys
      for text in sys.argv[1:]:
        message = bytes.fromhex(text)
        print(hashlib.sha256(message).hexdigest(), hashlib.sha512(message).hexdigest())
      """
    let run = try PythonReader.run(program: program, messages.map(Self.hexadecimal))
    #expect(run.status == 0, "\(run.errors)")
    let expected = String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(String.init)
    let hashes = messages.map { "\(Self.hexadecimal(SHA2.sha256($0))) \(Self.hexadecimal(SHA2.sha512($0)))" }
    #expect(hashes == expected)
  }
}
