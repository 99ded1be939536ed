import ArgumentParser
import Heartwood
import HeartwoodFormats

struct ModelCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Tells what is allowed in a model, but mostly a mistake: no inverse, no default value, reserved names.",
    discussion: """
      Each line is a warning. With --json each is an object with the members kind, path and message. A model that cannot be read \
      is an error, with file and line.

      The status is 0 where there is no warning, else 1.

      EXAMPLE
        heartwood model check ToDo.xcdatamodeld
      """
  )

  @OptionGroup var arguments: ModelArguments

  @Flag(help: "Print each warning as a JSON object.")
  var json = false

  func run() throws {
    let warnings = ModelReview(try arguments.load().model).warnings
    try StandardOutput.untilClosed { try tell(warnings) }
    if !warnings.isEmpty { throw ExitCode.failure }
  }

  private func tell(_ warnings: [ModelReview.Warning]) throws {
    for warning in warnings {
      let object = JSONValue.object([
        ("kind", .string(warning.kind.rawValue)), ("path", .string(warning.path)),
        ("message", .string(warning.message)),
      ])
      try StandardOutput.write(json ? object.line : DisplayText.safe("\(warning)") + "\n")
    }
    if !json { try StandardOutput.write(Quantity.text(warnings.count, "warning") + "\n") }
  }
}
