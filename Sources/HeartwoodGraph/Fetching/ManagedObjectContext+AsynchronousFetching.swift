public import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// The objects that a request asks for, found without holding up the isolation of the context: the stores' columns are searched
  /// elsewhere.
  ///
  /// The result is as the stores and the context were when it was asked for; objects whose records have gone since count as deleted.
  ///
  /// - Parameter progress: tells how far it has come, and stops it. Cancelling the task does so too.
  /// - Throws: as ``fetch(_:)-(FetchRequest<Object>)``, and `CancellationError`.
  public func fetchAsynchronously<Object>(
    _ request: FetchRequest<Object>,
    progress: FetchProgress = FetchProgress(),
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Object] {
    let matches = try await search(request, progress, isolation: isolation)
    return try objects(matches, request)
  }

  /// The ids of the objects that a request asks for; see ``fetchAsynchronously(_:progress:isolation:)``.
  public func fetchObjectIDsAsynchronously<Object>(
    _ request: FetchRequest<Object>,
    progress: FetchProgress = FetchProgress(),
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [ManagedObjectID] {
    try await search(request, progress, isolation: isolation).map(\.objectID)
  }

  private func search<Object>(
    _ request: FetchRequest<Object>,
    _ progress: FetchProgress,
    isolation: isolated (any Actor)?
  ) async throws -> [FetchPass.Match] {
    let log = persistentStoreCoordinator.log(.fetched)
    while let underWay = saveUnderWay, generation == nil {
      await underWay.writing.wait(isolation: isolation)
      if saveUnderWay === underWay { finishSaveUnderWay() }
    }
    let pass = try FetchPass(request, in: self)
    let candidates = try pass.candidates()
    let searches = try pass.searches(candidates)
    let rows = try await Self.rows(searches, progress)
    let matches = pass.settled(try pass.matches(rows, candidates))
    log?.tell(entity: request.entityName, count: matches.count)
    return matches
  }

  /// Searches off the isolation of the context, on a thread that may wait for others which help.
  private static func rows(_ searches: [FetchPart.Search], _ progress: FetchProgress) async throws -> [[RowID]] {
    progress.begin(searches.reduce(0) { $0 + $1.unitCount })
    return try await withTaskCancellationHandler {
      try await WaitingWork.run { () throws -> [[RowID]] in
        try searches.map { search in
          let rows = search.rows(progress)
          if progress.isCancelled { throw CancellationError() }
          return rows
        }
      }
    } onCancel: {
      progress.cancel()
    }
  }
}
