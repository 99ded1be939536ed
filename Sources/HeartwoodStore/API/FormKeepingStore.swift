/// A store whose files have one of several forms, which a new file that takes the place of another is to have too.
package protocol FormKeepingStore: StoreClass {
  /// The options with which a new file gets the form of `file`. What they say of the form already stays, unless a save over the file would follow the file.
  ///
  /// - Parameter setup: that of the file.
  static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions
}

extension StoreOpener {
  /// What makes a store of the form that another one has, if it is of the same type.
  package func keepingForm(
    of source: Request,
    from origin: StoreOrigin,
    in target: Request
  ) throws -> Request {
    guard source.type == target.type, source.path != nil,
      let storeClass = try registry.storeClass(for: source.type) as? any FormKeepingStore.Type
    else { return target }
    let (file, setup) = try (file(source), setupForReading(source, from: origin))
    var target = target
    target.options = try file.reading { try storeClass.options(target.options, keepingFormOf: file, setup) }
    return target
  }
}
