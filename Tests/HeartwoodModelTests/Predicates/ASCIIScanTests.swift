import HeartwoodModel
import Testing

@Suite struct ASCIIScanTests {
  @Test(arguments: [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 135, 140])
  func findsBytesBeyondASCII(_ place: Int) {
    var bytes = [UInt8](repeating: 0x7F, count: 141)
    bytes[place] = 0x80
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      #expect(ASCIIScan.unsafeFirstBeyond(in: base, from: 0, to: 141) == place)
      #expect(ASCIIScan.unsafeFirstBeyond(in: base, from: place + 1, to: 141) == nil)
      #expect(ASCIIScan.unsafeFirstBeyond(in: base, from: 0, to: place) == nil)
      #expect(!ASCIIScan.isASCII(buffer))
      #expect(!ASCIIScan.isASCII(UnsafeRawBufferPointer(rebasing: buffer[place...])))
      #expect(ASCIIScan.isASCII(UnsafeRawBufferPointer(rebasing: buffer[..<place])))
    }
  }

  @Test func findsTheFirstOfSeveral() {
    var bytes = [UInt8](repeating: 0x41, count: 80)
    for first in bytes.indices.reversed() {
      bytes[first] = 0xFF
      bytes.withUnsafeBytes { buffer in
        guard let base = buffer.baseAddress else { return }
        for start in 0...first { #expect(ASCIIScan.unsafeFirstBeyond(in: base, from: start, to: 80) == first) }
      }
    }
  }

  @Test func nothingIsASCII() {
    #expect(ASCIIScan.isASCII(UnsafeRawBufferPointer(start: nil, count: 0)))
  }
}
