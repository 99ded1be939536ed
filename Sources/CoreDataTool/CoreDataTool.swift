import CoreDataRewriting
import Foundation
import HeartwoodModelFiles

/// The command heartwood-coredata: builds packages that are written against Apple's CoreData.
@main
struct CoreDataTool {
  private static let usage = """
    USAGE: heartwood-coredata prepare|build|test [--package-path <folder>] [--stand-ins]
                              [arguments of swift build or swift test]

    Builds a package whose sources are written against Apple's CoreData, as it is.

      prepare   Writes rewritten copies of the sources that need it to .build/coredata, and overlay.yaml, with which
                `swift build -Xswiftc -vfsoverlay -Xswiftc .build/coredata/overlay.yaml` compiles them in place of the
                originals. Diagnostics name the originals.
      build     Prepares and builds the package, and compiles the data models in the resources of its targets.
      test      The same, and runs the tests. At the end it says how many sources type-check, how many tests exist, pass
                and fail, and what kinds of walls hold the others.

      --stand-ins  Builds small modules in place of Combine, os and OSLog, for the sources that import them. They do
                   what a few tests need, and are not for programs.

    """

  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch let error as CommandFailure {
      exit(error.status)
    } catch {
      write("heartwood-coredata: error: \(error)\n")
      exit(EXIT_FAILURE)
    }
  }

  private static func run(_ arguments: [String]) throws {
    var rest = arguments
    guard !rest.isEmpty, !rest.contains("--help") else { return print(usage, terminator: "") }
    let command = rest.removeFirst()
    var folder = "."
    if let place = rest.firstIndex(of: "--package-path"), place + 1 < rest.count {
      folder = rest[place + 1]
      rest.removeSubrange(place...(place + 1))
    }
    let usesStandIns = rest.contains("--stand-ins")
    rest.removeAll { $0 == "--stand-ins" }
    let standIns = usesStandIns ? try StandIn.all() : []
    let preparation = PackagePreparation(package: URL(fileURLWithPath: folder), usesStandIns: usesStandIns)
    switch command {
    case "prepare": try prepare(preparation)
    case "build":
      try prepare(preparation)
      try PackageBuild(preparation, standIns).build(rest)
    case "test":
      try prepare(preparation)
      try PackageBuild(preparation, standIns).test(rest)
    default: throw PreparationError("There is no command \(command).\n\n\(usage)")
    }
  }

  private static func prepare(_ preparation: PackagePreparation) throws {
    let sources = try preparation.run()
    write(
      "Rewrote \(sources.count) \(sources.count == 1 ? "source" : "sources"); the overlay is \(preparation.overlay.path)\n"
    )
  }

  static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

/// A command that has failed and said why.
struct CommandFailure: Error {
  let status: Int32
}

// MARK: PackageBuild

/// Builds a package that is prepared.
struct PackageBuild {
  private let preparation: PackagePreparation

  private let standIns: [StandIn]

  init(_ preparation: PackagePreparation, _ standIns: [StandIn]) {
    self.preparation = preparation
    self.standIns = standIns
  }

  func build(_ arguments: [String]) throws {
    try makeStandIns()
    try swift(["build"] + overlay + arguments)
    try compileModels(Self.building(arguments))
  }

  /// Builds and runs the tests: all that there are, also if a `LinuxMain.swift` from the time before tests were
  /// discovered lists some of them.
  func test(_ arguments: [String]) throws {
    let configuration = Self.building(arguments)
    let discovery = ["--enable-test-discovery"]
    var summary = TestSummary(try preparation.ownSources())
    defer { print("\n" + summary.text, terminator: "") }
    try makeStandIns()
    let build = try followed(["swift", "build", "--build-tests"] + discovery + overlay + configuration)
    summary.noteBuild(build.output, succeeded: build.status == 0)
    if build.status != 0 { throw CommandFailure(status: build.status) }
    try compileModels(configuration)
    try writeInformation(configuration)
    let run = try followed(["swift", "test", "--skip-build"] + discovery + overlay + arguments)
    summary.noteRun(run.output)
    if run.status != 0 { throw CommandFailure(status: run.status) }
  }

  /// The options of the compiler with which it sees the rewritten sources and the stand-ins.
  private var overlay: [String] {
    let objects = standIns.flatMap { ["-Xlinker", $0.object(in: standInFolder).path] }
    let modules = standIns.isEmpty ? [] : ["-Xswiftc", "-I" + standInFolder.path]
    return ["-Xswiftc", "-vfsoverlay", "-Xswiftc", preparation.overlay.path] + modules + objects
  }

  private var standInFolder: URL { preparation.folder.appendingPathComponent("stand-ins") }

  private func makeStandIns() throws {
    for standIn in standIns { try run(try standIn.compiling(into: standInFolder)) }
  }

  private static let buildOptions: Set<String> = [
    "-c", "--configuration", "--scratch-path", "--build-path", "--traits", "-Xswiftc", "-Xcc", "-Xlinker",
  ]
  private static let buildFlags: Set<String> = ["--disable-build-manifest-caching", "--verbose", "-v"]

  /// Returns the arguments of a test run that are arguments of a build as well.
  private static func building(_ arguments: [String]) -> [String] {
    var result: [String] = []
    for (index, argument) in arguments.enumerated() {
      if buildFlags.contains(argument) { result.append(argument) }
      if buildOptions.contains(argument), index + 1 < arguments.count { result += [argument, arguments[index + 1]] }
    }
    return result
  }

  private func swift(_ arguments: [String]) throws { try run(["swift"] + arguments) }

  private func run(_ command: [String]) throws {
    let process = Self.process(command, preparation)
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw CommandFailure(status: process.terminationStatus) }
  }

  /// Runs a command, shows what it writes, and returns it.
  private func followed(_ command: [String]) throws -> (status: Int32, output: String) {
    let process = Self.process(command, preparation)
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    var output = Data()
    while true {
      let data = pipe.fileHandleForReading.availableData
      if data.isEmpty { break }
      FileHandle.standardOutput.write(data)
      output += data
    }
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  private static func process(_ command: [String], _ preparation: PackagePreparation) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = preparation.package
    return process
  }

  /// Gives the bundle of the tests, which is the folder of the products, an identifier, as it has one on Apple's
  /// systems.
  private func writeInformation(_ arguments: [String]) throws {
    let information = ["CFBundleIdentifier": "\(preparation.package.lastPathComponent).PackageTests"]
    let data = try PropertyListSerialization.data(fromPropertyList: information, format: .xml, options: 0)
    try data.write(to: products(arguments).appendingPathComponent("Info.plist"))
  }

  /// Writes compiled models and mapping models beside their sources in the built resources, where programs look for
  /// them.
  private func compileModels(_ arguments: [String]) throws {
    let folder = try products(arguments)
    for url in try Self.resources("xcdatamodeld", in: folder) {
      try CompiledModel.write(modelAt: url, to: url.deletingPathExtension().appendingPathExtension("momd"))
      CoreDataTool.write("Compiled \(url.lastPathComponent)\n")
    }
    for url in try Self.resources("xcmappingmodel", in: folder) {
      try CompiledModel.write(mappingModelAt: url, to: url.deletingPathExtension().appendingPathExtension("cdm"))
      CoreDataTool.write("Compiled \(url.lastPathComponent)\n")
    }
  }

  /// Returns the folder of the products.
  private func products(_ arguments: [String]) throws -> URL {
    let process = Self.process(["swift", "build", "--show-bin-path"] + arguments, preparation)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw CommandFailure(status: process.terminationStatus) }
    return URL(fileURLWithPath: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
  }

  private static func resources(_ pathExtension: String, in folder: URL) throws -> [URL] {
    try contents(of: folder).filter { ["resources", "bundle"].contains($0.pathExtension) }
      .flatMap { try contents(of: $0) }.filter { $0.pathExtension == pathExtension }
  }

  private static func contents(of folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
  }
}
