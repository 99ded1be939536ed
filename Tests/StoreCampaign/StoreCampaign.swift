import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodStore

/// What is done to stores for longer than tests take: processes that are killed while they save, processes that save to one file, and a
/// disk that becomes full. `Scripts/campaign` runs it, and it ends with the status 1 where a file is not what it must be.
///
///     StoreCampaign kill TYPE FOLDER COUNT SEED
///     StoreCampaign compete TYPE FOLDER PROCESSES SAVES
///     StoreCampaign fill TYPE FOLDER COUNT SEED
///     StoreCampaign servers FAILOVERS-RESTARTS-KILLS FOLDER CLIENTS SEED
@main struct StoreCampaign {
  /// Something that must not be.
  struct Flaw: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  static func main() {
    do {
      let words = CommandLine.arguments
      if words.dropFirst().first == ServerClient.command {
        try ServerClient(Array(words.dropFirst())).saveForEver()
      } else {
        try run(Arguments(words))
      }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: Arguments) throws {
    let place = StorePlace(type: arguments.type, folder: arguments.folder)
    switch arguments.command {
    case "kill":
      try KillCampaign(place: place, random: Random(seed: UInt64(arguments.second))).run(count: arguments.first)
    case "save": try SavingProcess(place).saveForEver()
    case "compete": try CompetitionCampaign(place: place, saveCount: arguments.second).run(count: arguments.first)
    case "compete-one": try CompetingProcess(place, number: arguments.first).save(count: arguments.second)
    case "fill":
      try FullDiskCampaign(place: place, random: Random(seed: UInt64(arguments.second))).run(count: arguments.first)
    case "servers":
      let counts = arguments.type.rawValue.split(separator: "-").compactMap { Int($0) }
      guard counts.count == 3 else { throw Flaw("Usage: StoreCampaign servers FAILOVERS-RESTARTS-KILLS FOLDER …") }
      try ServerCampaign(
        folder: arguments.folder,
        clientCount: arguments.first,
        random: Random(seed: UInt64(arguments.second))
      ).run(failovers: counts[0], restarts: counts[1], kills: counts[2])
    default: throw Flaw("There is no campaign called \(arguments.command).")
    }
  }
}

/// The words of the command line.
struct Arguments {
  let command: String
  let type: StoreType
  let folder: URL
  let first: Int
  let second: Int

  init(_ words: [String]) throws {
    guard words.count == 6, let first = Int(words[4]), let second = Int(words[5]) else {
      throw StoreCampaign.Flaw("Usage: StoreCampaign kill|compete|fill|servers TYPE FOLDER NUMBER NUMBER")
    }
    command = words[1]
    type = StoreType(words[2])
    folder = URL(filePath: words[3])
    (self.first, self.second) = (first, second)
  }
}

/// Numbers that are the same again for the same seed.
struct Random {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func number(below limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(limit))
  }
}
