import Foundation
import ParserTrials
import TestSupport
import Testing

/// A small file that says that it is large takes no more memory than a small file.
@Suite(.serialized) struct HostileMemoryTests {
  /// What a parser may take more than for a file of the same length with true numbers in it. The allocator gives memory back late.
  private static let mostGrowth = 48 << 20

  @Test(arguments: ParserTrial.allCases)
  func largeNumbersTakeNoMemory(_ trial: ParserTrial) throws {
    let seed = UInt64.random(in: .min ... .max)
    print("\(trial.rawValue): seed \(seed)")
    try expectLittleMemory(trial, seed)
  }

  /// What went wrong once.
  @Test(arguments: [(ParserTrial.sqlite, 10_500_196_558_762_433_381 as UInt64)])
  func whatWentWrongDoesNot(_ trial: ParserTrial, _ seed: UInt64) throws {
    try expectLittleMemory(trial, seed)
  }

  private func expectLittleMemory(_ trial: ParserTrial, _ seed: UInt64) throws {
    let worker = Process()
    let output = Pipe()
    worker.executableURL = try BuiltExecutable.url(named: "TrialWorker")
    worker.arguments = [trial.rawValue, ParserTrialTests.root.path, "\(seed)", "300"]
    worker.standardOutput = output
    try worker.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    worker.waitUntilExit()
    #expect(worker.terminationStatus == 0, "\(trial.rawValue) \(seed)")
    let growth = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(trial.rawValue) \(seed)")
    #expect(growth < Self.mostGrowth, "\(trial.rawValue) \(seed)")
  }
}
