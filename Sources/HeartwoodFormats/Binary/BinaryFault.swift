import HeartwoodStore

/// Says what is wrong with a file, and where.
struct BinaryFault: Sendable {
  let path: String

  /// The file is not what was once written.
  func corrupt(
    _ what: String,
    at offset: Int,
    entity: String? = nil,
    property: String? = nil
  ) -> PersistenceError {
    PersistenceError(
      .fileCorrupt,
      "The file was cut short or altered: \(what).",
      recovery: .restoreCopy,
      context: context(at: offset, entity: entity, property: property)
    )
  }

  /// The file is no binary store of ours.
  func malformed(_ problem: String) -> PersistenceError {
    PersistenceError(.fileMalformed, problem, context: context(at: 0))
  }

  /// The file is a store that this library does not read.
  func unsupported(_ problem: String, recovery: PersistenceError.Recovery, at offset: Int) -> PersistenceError {
    PersistenceError(.fileFormatUnsupported, problem, recovery: recovery, context: context(at: offset))
  }

  /// The file is whole, and does not fit the model that it is opened with.
  func incompatible(_ problem: String, entity: String, property: String? = nil) -> PersistenceError {
    PersistenceError(
      .modelIncompatible,
      problem,
      recovery: .giveModel,
      context: context(at: nil, entity: entity, property: property)
    )
  }

  private func context(at offset: Int?, entity: String? = nil, property: String? = nil) -> PersistenceError.Context {
    .init(path: path, byteOffset: offset, storeType: .binary, entity: entity, property: property)
  }
}
