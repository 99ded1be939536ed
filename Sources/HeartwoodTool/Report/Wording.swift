import ArgumentParser

/// Errors of the library in words for who uses the tool: what the library says of its own names is said of options and commands.
enum Wording {
  private static let phrases = [
    ("Give it one with substituting(_:).", "Write the value in its place."),
    (
      "Open it with the option tracksPersistentHistory; what is saved from then on is kept.",
      "What an application saves with the option tracksPersistentHistory is kept."
    ),
    ("migrate it (shouldMigrateStoreAutomatically)", "migrate it with heartwood migrate"),
    ("Give the older versions of the model with the option olderModels", "Give it with --from-model"),
    ("Give that with the option olderModels", "Give that with --from-model"),
    (
      "copy the store to a new file, which is of that model, and migrate the copy.",
      "heartwood convert makes a new file that is of that model, and can be migrated."
    ),
    ("There is no argument number 1. Give one for each place in the format string.", "Write the value in its place."),
    ("Give the type, or a name", "Give the type (with --type, or the option of that file), or a name"),
    ("Choose another name, or say that it may be replaced.", "Choose another name, or replace it with --force."),
    ("Choose another place, or say that it is to be replaced.", "Choose another name, or replace it with --force."),
    ("Add it without a location, or choose another type of store", "Choose another type of store"),
    (
      "what is to become of them (MigrationResolutions)", "what is to become of them (--duplicates, --several, --unfit)"
    ),
    (
      "Give its class with the option entityMigrationPolicies.",
      "That is code of an application, which has to migrate the store itself."
    ),
    ("The token stands behind transaction", "You ask for what came after transaction"),
    ("its file is an older one than the token is of", "its file is an older one"),
    (
      "go on from currentPersistentHistoryToken.",
      "go on from the last transaction that heartwood info tells, or leave out --after."
    ),
    (
      "Write the migrated one to another file, with run(to:) of the migration.", "Write the migrated one with --output."
    ),
    ("Try again later, or set a longer sqliteBusyTimeout.", "Try again later."),
  ]

  /// What a type has no place for calls for another type, or can be printed in this way.
  private static let unfitPhrases = [
    (
      "Choose another type of store, or a configuration with fewer.",
      "print the records of one entity with heartwood dump --entity NAME --format csv"
    ),
    ("Remove the user's keys from the metadata.", "print the records alone with heartwood dump --format csv"),
  ]

  /// - Parameter command: the name of the command that has failed.
  static func text(_ error: any Error, of command: String? = CommandLine.arguments.dropFirst().first) -> String {
    // What is printed has not been migrated.
    let isMigration = command == MigrateCommand.configuration.commandName
    let choices = unfitPhrases.map { phrase, printing in
      (phrase, "Choose another type of store" + (isMigration ? "." : ", or \(printing)."))
    }
    return (phrases + choices).reduce("\(error)") { text, phrase in text.replacing(phrase.0, with: phrase.1) }
  }
}
