import HeartwoodModel

/// Numbers by which compiled models tell what properties are like.
enum CompiledModelFlag {
  static let externalStorage = 4
  static let preservedOnDeletion = 16
  /// What fetch requests have for which nothing was said.
  static let usualFetchRequest = 30

  /// Each rule at its number.
  static let deleteRules: [DeleteRule] = [.noAction, .nullify, .cascade, .deny]
}
