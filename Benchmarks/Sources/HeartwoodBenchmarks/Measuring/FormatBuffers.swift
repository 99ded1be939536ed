import Foundation

/// What readers and writers keep beside the tables, as `Documentation/Performance.md` lists it.
enum FormatBuffers {
  /// A part of a CSV file that a processor reads at once.
  private static let window = 4 << 20
  /// A piece of an XML file.
  private static let piece = 1 << 16
  /// Text or objects that a processor makes at once, and what is gathered before it is written.
  private static let block = 1 << 20
  /// For each record, a hash that tells whether two have the same reference.
  private static let hash = 8
  /// A to-do in a property list: the dictionary, the reference, and the values that are not shared.
  private static let objectsPerRecord = 5
  /// Where an object is, in a property list that is being written.
  private static let offset = 4
  /// How many records of a property list a processor reads before it gives the memory of the file back, and about how long each is.
  private static let (recordsInMemory, recordLength) = (1 << 14, 140)

  static func bytes(_ fileExtension: String, _ direction: MemoryPoint.Direction, rows: Int) -> Int {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    // Two blocks for each processor wait to be written.
    let blocks = 2 * processors * block
    switch (fileExtension, direction) {
    case ("csv", .read): return rows * hash + processors * window
    case ("xml", .read): return rows * hash + piece
    case ("plist", .read):
      return rows * hash + rows * objectsPerRecord / 8 + processors * recordsInMemory * recordLength
    case ("csv", .save), ("xml", .save): return blocks
    case ("plist", .save): return blocks + rows * (objectsPerRecord + 1) * offset
    // Used, and written, as it lies in memory.
    default: return 0
    }
  }
}
