import HeartwoodFormats
import HeartwoodStore

extension StoreInput {
  /// How an encrypted store begins, by Formats/Encrypted/README.md.
  private static let encryptedMagic: [UInt8] = [0x48, 0x57, 0x45, 0x4E, 0x43, 0x0D, 0x0A, 0x1A]
  private static let gzipMagic: [UInt8] = [0x1F, 0x8B]

  /// Refuses the file of a store that is encrypted or compressed, whatever it is called: no type that the tool knows reads it.
  func checkIsPlain() throws(PersistenceError) {
    let prefix = try bytes(from: 0, count: Self.encryptedMagic.count)
    if prefix == Self.encryptedMagic {
      throw wrapped(
        "This is an encrypted store of Heartwood, which the tool has no keys for.",
        recovery: "Convert it in the application, or decrypt it with Formats/Encrypted/reader.py."
      )
    }
    guard prefix.starts(with: Self.gzipMagic) else { return }
    let name = DisplayText.safe(path)
    let command = PathParts.fileExtension(path) == "gz" ? "gunzip --keep \(name)" : "gunzip < \(name) > NAME"
    throw wrapped("The file is compressed with gzip.", recovery: "Unpack it first: \(command)")
  }

  private func wrapped(_ problem: String, recovery: PersistenceError.Recovery) -> PersistenceError {
    PersistenceError(.fileFormatUnsupported, problem, recovery: recovery, context: .init(path: path))
  }
}
