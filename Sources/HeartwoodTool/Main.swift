import ArgumentParser

/// Runs the command that the arguments ask for, and says how it ended.
@main enum Main {
  static func main() {
    StandardOutput.prepare()
    do {
      try Arguments.check()
      var command = try HeartwoodCommand.parseAsRoot()
      try command.run()
      OpenedStores.close()
    } catch {
      OpenedStores.close()
      Failure(error).exit()
    }
  }
}
