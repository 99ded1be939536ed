import ArgumentParser

/// The command under which all are that look at models.
struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract: "Shows models, checks and compares them, and converts one form into another.",
    discussion: """
      A model is an .xcdatamodeld, .xcdatamodel, .momd or .mom, a JSON model, or a store that holds one.

      EXAMPLE
        heartwood model show ToDo.xcdatamodeld
        heartwood model diff ToDo.xcdatamodeld --model-version ToDo ToDo.xcdatamodeld
      """,
    subcommands: [
      ModelShowCommand.self, ModelCheckCommand.self, ModelDiffCommand.self, ModelHashCommand.self,
      ModelConvertCommand.self,
    ]
  )
}
