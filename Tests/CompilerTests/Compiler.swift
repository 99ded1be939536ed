import Foundation
import Testing

/// The Swift compiler, with the modules that the tests were built with.
struct Compiler {
  struct Failure: CustomStringConvertible {
    let line: Int
    let text: String
    var description: String { "\(line): \(text)" }
  }

  private let modules: URL

  init() throws {
    modules = Self.products.appending(path: "Modules")
    try #require(FileManager.default.fileExists(atPath: modules.path), "There are no modules beside the tests.")
  }

  /// The folder that the tests were built in.
  private static var products: URL {
    #if canImport(Darwin)
      Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
    #else
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    #endif
  }

  private final class Marker {}

  /// What the compiler finds wrong in a file. It makes nothing of it, but checks isolation, which comes after the types.
  func errors(in file: URL) throws -> [Failure] {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-parse-as-library", "-module-name", "Snippet",
      "-diagnostic-style", "llvm", "-I", modules.path, file.path,
    ]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let failures = text.split(separator: "\n").compactMap { Self.failure(String($0), in: file) }
    // A compiler that fails for another reason must not pass for one that refuses the code.
    try #require((process.terminationStatus == 0) == failures.isEmpty, "The compiler failed:\n\(text)")
    return failures
  }

  private static func failure(_ line: String, in file: URL) -> Failure? {
    guard line.hasPrefix(file.path + ":") else { return nil }
    let parts = line.dropFirst(file.path.count + 1).split(separator: ":", maxSplits: 2)
    guard parts.count == 3, let number = Int(parts[0]), parts[2].hasPrefix(" error: ") else { return nil }
    return Failure(line: number, text: String(parts[2].dropFirst(" error: ".count)))
  }
}
