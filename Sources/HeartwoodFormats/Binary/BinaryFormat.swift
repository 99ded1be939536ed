/// The numbers of the format that `Formats/Binary/README.md` specifies.
enum BinaryFormat {
  /// No text file begins so, and a transfer that changes line ends or clears the highest bits shows at once.
  static let magic: [UInt8] = [0x89, 0x48, 0x57, 0x42, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The magic from its end to its beginning.
  static let endMagic: [UInt8] = magic.reversed()
  /// How a binary store of Apple's Core Data begins.
  static let coreDataMagic = Array("CoreData".utf8)

  /// The version from which on the directory may end with a history; in this one it does.
  static let versionWithHistory: UInt32 = 2
  /// The version from which on the metadata have an area of their own, and flags tell whether there is a history. It is written.
  static let versionWithMetadataArea: UInt32 = 3
  /// The newest version that is read.
  static let readerVersion: UInt32 = 3

  static let headerLength = 64
  static let trailerLength = 64
  /// Sections begin at multiples of this.
  static let alignment = 64

  static let metadataSection = 0
  static let modelSection = 1
  /// The sections that belong to no table.
  static let commonSectionCount = 2

  /// How many zeros follow `length` bytes that begin at a multiple of ``alignment``.
  static func paddingLength(_ length: Int) -> Int { -length & (alignment - 1) }

  static let zeros = [UInt8](repeating: 0, count: alignment)
}
