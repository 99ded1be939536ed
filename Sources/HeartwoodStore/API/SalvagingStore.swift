public import HeartwoodModel

/// A store that can read what is sound in a damaged file, and say what is not.
///
/// A store of any kind may adopt it. One that does not is read as usual: what it has added to its loader before it failed is kept, and its
/// error says what is wrong. A store whose records can be read one by one does better here:
///
///     extension JSONLinesStore: SalvagingStore {
///       func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
///         for (number, line) in lines(of: file) {
///           salvage.addNode(reference(of: line), to: entity, line: number) { node in try node.setValue(…, forKey: …) }
///         }
///       }
///     }
///
/// Links between records need no care: those that lead nowhere are dropped and reported afterwards, and inverses are made to agree.
public protocol SalvagingStore: StoreClass {
  /// Reads what is sound into the loader of `salvage`, and notes all else there. A value that cannot be read is noted and left nil; a record
  /// that cannot be read is noted and left out. Nothing is made up.
  ///
  /// An incremental store is not connected when this is called.
  ///
  /// - Throws: an error if there is nothing to begin with: the file is none of the store's, or the part of it is gone without which nothing
  ///   else can be told.
  func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws

  /// The model in a file that may be damaged, or nil if the file has none, or not a sound one. By default it is what
  /// ``StoreClass/readModel(from:options:)`` returns, and nil if that throws.
  static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel?
}

extension SalvagingStore {
  /// What the file's model is, if it can be read.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    try? readModel(from: file, options: options)
  }
}
