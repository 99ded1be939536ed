/// What every engine keeps of its store while that is open.
protocol EngineState {
  var contents: StoreContents { get set }
  /// Whether the user's metadata were set since they were last saved.
  var hasUnsavedMetadata: Bool { get set }
}

extension EngineState {
  /// Changes the metadata, to be written with the next save. No save may be under way: it would put back the metadata that it began with.
  mutating func changeMetadata(_ change: (inout StoreMetadata) -> Void) {
    let userInfo = contents.metadata.userInfo
    change(&contents.metadata)
    if contents.metadata.userInfo != userInfo { hasUnsavedMetadata = true }
  }
}
