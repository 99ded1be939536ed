import Foundation
import Testing

/// The Swift compiler, with the modules that the tests were built with.
struct Compiler {
  struct Failure: CustomStringConvertible {
    let file: String
    let line: Int
    let text: String
    var description: String { "\(file):\(line): \(text)" }
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

  /// What the compiler finds wrong in files of one module. It makes nothing of them, but checks isolation, which comes after the types.
  ///
  /// - Parameters:
  ///   - isStrict: whether warnings count, and imports have to say what they use.
  ///   - options: what else the compiler is told.
  func errors(in files: [URL], isStrict: Bool = false, options: [String] = []) throws -> [Failure] {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "swiftc", "-emit-sil", "-wmo", "-o", "/dev/null", "-swift-version", "6", "-parse-as-library", "-module-name",
        "Snippet", "-package-name", "snippet", "-diagnostic-style", "llvm", "-I", modules.path,
      ] + (try Self.systemModules()) + (isStrict ? Self.strictness : []) + options + files.map(\.path)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let failures = text.split(separator: "\n").compactMap { line in
      files.lazy.compactMap { Self.failure(String(line), in: $0) }.first
    }
    // A compiler that fails for another reason must not pass for one that refuses the code.
    try #require((process.terminationStatus == 0) == failures.isEmpty, "The compiler failed:\n\(text)")
    return failures
  }

  /// Where the modules of system libraries are, and what they include.
  private static func systemModules() throws -> [String] {
    let module = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/CLibXML2")
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["pkg-config", "--cflags", "libxml-2.0"]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let flags = text.split(whereSeparator: \.isWhitespace).flatMap { ["-Xcc", String($0)] }
    return ["-I", module.path] + flags
  }

  private static let strictness =
    ["-warnings-as-errors"]
    + ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"].flatMap {
      ["-enable-upcoming-feature", $0]
    }

  private static func failure(_ line: String, in file: URL) -> Failure? {
    guard line.hasPrefix(file.path + ":") else { return nil }
    let parts = line.dropFirst(file.path.count + 1).split(separator: ":", maxSplits: 2)
    guard parts.count == 3, let number = Int(parts[0]), parts[2].hasPrefix(" error: ") else { return nil }
    return Failure(file: file.lastPathComponent, line: number, text: String(parts[2].dropFirst(" error: ".count)))
  }
}
