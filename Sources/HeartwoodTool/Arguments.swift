import ArgumentParser

/// What is to be known of the arguments before any command reads them.
enum Arguments {
  static func check() throws {
    try checkEncoding()
  }

  /// Refuses bytes that are not UTF-8. Swift would put other characters in their place, and so name another file.
  private static func checkEncoding() throws {
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else { continue }
      throw ValidationError(
        "Argument \(index), “\(String(cString: argument))”, is not UTF-8, so it names no file that can be reached. "
          + "Give the file another name, or a link to it."
      )
    }
  }
}
