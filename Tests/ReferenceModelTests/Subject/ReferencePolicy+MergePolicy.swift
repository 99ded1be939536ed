import HeartwoodGraph

extension ReferencePolicy {
  /// The policy of the graph under test.
  var mergePolicy: MergePolicy {
    switch self {
    case .error: .error
    case .storeTrump: .mergeByPropertyStoreTrump
    case .objectTrump: .mergeByPropertyObjectTrump
    case .overwrite: .overwrite
    case .rollback: .rollback
    }
  }
}
