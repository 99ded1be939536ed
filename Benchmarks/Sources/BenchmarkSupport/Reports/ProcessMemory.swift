import Foundation

/// What the process has of the machine's memory.
package enum ProcessMemory {
  /// The bytes that are resident and belong to no file; nil on systems that do not tell in `/proc`.
  package static var anonymousBytes: Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes * 1024
  }
}
