import Foundation

/// What the process has of the machine's memory; nil everywhere on systems that do not tell in `/proc`.
package enum ProcessMemory {
  /// The bytes that are resident and belong to no file.
  package static var anonymousBytes: Int? { bytes("RssAnon:") }

  /// The bytes that are resident, those of mapped files included.
  package static var residentBytes: Int? { bytes("VmRSS:") }

  /// The most that ``residentBytes`` has been since the process began, or since ``forgetPeak()``.
  package static var peakBytes: Int? { bytes("VmHWM:") }

  /// Lets ``peakBytes`` begin anew from what is resident now.
  package static func forgetPeak() {
    // Where the system refuses, the peak is that of the whole process so far, which is no lower.
    try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
  }

  private static func bytes(_ key: String) -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix(key) }),
      let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes * 1024
  }
}

/// Watches by how much the memory of the process grows at most.
package struct MemoryWatch {
  private let start: Int?

  package init() {
    ProcessMemory.forgetPeak()
    start = ProcessMemory.residentBytes
  }

  /// The greatest growth since the watch began.
  package var growth: Int? {
    guard let start, let peak = ProcessMemory.peakBytes else { return nil }
    return max(0, peak - start)
  }
}
