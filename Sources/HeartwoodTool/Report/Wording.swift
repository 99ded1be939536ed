import ArgumentParser
import HeartwoodModelFiles
import HeartwoodFoundation
import HeartwoodGeneration
import HeartwoodModel
import HeartwoodStore

/// Describes errors of the framework to users of the tool: with options and commands in place of Swift names, and with
/// paths as in the arguments.
struct Wording {
  private let paths: GivenPaths
  private let command: String?

  /// - Parameter command: the name of the command that has failed.
  init(paths: GivenPaths = GivenPaths(), command: String? = CommandLine.arguments.dropFirst().first) {
    self.paths = paths
    self.command = command
  }

  func text(_ error: any Error) -> String {
    switch error {
    case let error as PersistenceError: error.text(recovery: recovery, path: paths.shown(path:), cause: text)
    case let error as ModelFileError: error.text(path: paths.shown(path:))
    case let error as FetchPredicateError: text(error)
    case let error as TemplateError: text(error)
    case let error as ToolError: error.text(path: paths.shown(path:))
    case let error as CocoaError: error.explanation(paths.shown(path:))
    default: "\(error)"
    }
  }

  /// Returns the text of an error in a predicate. Placeholders and variables cannot have values here, so the value has
  /// to be written into the predicate.
  private func text(_ error: FetchPredicateError) -> String {
    let isOfValue = [.unboundVariable, .argument].contains(error.kind) && error.recovery != nil
    return isOfValue ? error.text(recovery: "Write the value in its place.") : error.description
  }

  private func text(_ error: TemplateError) -> String {
    var error = error
    error.template = error.template.map(paths.shown(path:))
    return error.description
  }
}

// MARK: Recovery

extension Wording {
  /// Returns what to do, in place of the framework's text; nil if that is suitable for users of the tool, too.
  func recovery(_ recovery: PersistenceError.Recovery) -> String? {
    let list = recovery.names.joined(separator: ", ")
    return switch recovery.kind {
    case .replaceFile: "Choose another name, or replace it with --force."
    case .giveStoreType:
      "Give the type with \(typeOption), or a name with one of the extensions \(list)."
    case .chooseAnotherTypeOrNoFile: "Choose another type of store."
    case .chooseAnotherTypeOrFewerEntities:
      otherType(orPrinting: "the records of one entity with heartwood dump --entity NAME --format csv")
    case .removeUserMetadata: otherType(orPrinting: "the records alone with heartwood dump --format csv")
    case .openForWriting, .openReadOnly: ""
    case .giveModel: "Give its model with --model."
    case .trackHistory: "Only saves with the option tracksPersistentHistory are recorded."
    case .restartHistory: "Continue from the last transaction in heartwood info, or leave out --after."
    case .waitLonger: "Try again later."
    case .setOption, .raiseLimit: "An application that opens it can set the option \(list)."
    default: migrationRecovery(recovery.kind)
    }
  }

  /// The option of the command with which the user gives the type of a store.
  private var typeOption: String {
    switch command {
    case ConvertCommand.configuration.commandName, MigrateCommand.configuration.commandName: "--from"
    case DiffCommand.configuration.commandName: "--type or --second-type"
    default: "--type"
    }
  }

  private func migrationRecovery(_ kind: PersistenceError.Recovery.Kind) -> String? {
    switch kind {
    case .migrateStore: "Open it with the model that it was written with, or migrate it with heartwood migrate."
    case .giveOlderModels: "Give it with --from-model."
    case .giveOlderModelsOrCopyStore:
      "Give the store's model with --from-model. Or make a new file with heartwood convert, which has the model in the old one, and can be migrated."
    case .migrateToOtherFile: "Write the migrated one with --output."
    case .resolveMigration:
      "Set what happens to them (--duplicates, --several, --unfit), or write a mapping model."
    case .acceptMigrationLoss:
      "Give --allow-loss to continue without them, or write a mapping model that keeps them."
    case .giveMigrationPolicy: "The policy is code of an application, which has to migrate the store itself."
    default: nil
    }
  }

  /// What would be printed has not been migrated, so printing is not suggested for a migration.
  private func otherType(orPrinting records: String) -> String {
    let isMigration = command == MigrateCommand.configuration.commandName
    return "Choose another type of store" + (isMigration ? "." : ", or print \(records).")
  }
}
