#if Metrics
  public import CoreMetrics
  public import HeartwoodGraph
  import HeartwoodStore
  import Synchronization
  public import Tracing

  /// Reports what contexts and their coordinator do with the stores to swift-metrics and swift-distributed-tracing.
  ///
  /// Bootstrap the two systems as for the rest of the program, and give a value to the container:
  ///
  ///     let container = try PersistentContainer(name: "ToDo", operationObserver: OperationMetrics())
  ///
  /// The metrics have the dimensions `operation` (``StoreOperation/Kind``), `store` (its type, or `any`) and `entity`
  /// (that of a fetch or a count, or `none`):
  ///
  /// - `heartwood.operation.duration`, a timer, of all operations;
  /// - `heartwood.operation.waiting`, a timer, of those that had to wait for others in this process;
  /// - `heartwood.operation.records`, a recorder, of the numbers of records that were found, counted or changed;
  /// - `heartwood.operation.errors`, a counter, with the further dimension `code`;
  /// - `heartwood.conflicts`, a counter, with the dimensions `store` and `code`: saves that conflicted with others, also
  ///   if a merge policy has resolved it.
  ///
  /// Each operation is a span, called `heartwood save`, `heartwood fetch` and so on, below the span of the task that it
  /// is done in. It has the same dimensions and the number of records as attributes. Neither metrics nor spans have
  /// values of records.
  ///
  /// It needs the trait `Metrics`.
  public struct OperationMetrics: OperationObserver {
    private let factory: any MetricsFactory
    private let tracer: any Tracer
    private let known = KnownMetrics()

    /// - Parameters:
    ///   - factory: the factory of the metrics.
    ///   - tracer: makes the spans.
    public init(
      factory: any MetricsFactory = MetricsSystem.factory,
      tracer: any Tracer = InstrumentationSystem.tracer
    ) {
      self.factory = factory
      self.tracer = tracer
    }

    /// Begins the span of an operation. Its end is reported by the result.
    public func operationWillBegin(_ operation: StoreOperation) -> @Sendable (StoreOperation.Result) -> Void {
      let span = tracer.startAnySpan("heartwood \(operation.kind.rawValue)", ofKind: .client)
      let metrics = known.metrics(of: operation, factory)
      return { result in
        metrics.report(result, operation, factory)
        end(span, operation, result)
      }
    }

    private func end(_ span: any Span, _ operation: StoreOperation, _ result: StoreOperation.Result) {
      for (name, value) in operation.dimensions { span.attributes["heartwood.\(name)"] = value }
      if let count = result.recordCount { span.attributes["heartwood.records"] = count }
      if result.waited > .zero { span.attributes["heartwood.waiting.seconds"] = result.waited / .seconds(1) }
      if let error = result.error {
        span.attributes["heartwood.code"] = Self.code(of: error)
        span.setStatus(SpanStatus(code: .error))
      }
      span.end()
    }

    /// The code of an error, or else its type: a message may have values of records.
    fileprivate static func code(of error: any Error) -> String {
      (error as? PersistenceError).map { "\($0.code)" } ?? "\(type(of: error))"
    }
  }

  extension StoreOperation {
    fileprivate var dimensions: [(String, String)] {
      [("operation", kind.rawValue), ("store", storeType?.rawValue ?? "any"), ("entity", entityName ?? "none")]
    }
  }

  // MARK: Metrics

  /// The metrics of operations that are alike.
  private struct OperationMetricSet: Sendable {
    let duration: Timer
    let waiting: Timer
    let records: Recorder

    init(_ operation: StoreOperation, _ factory: any MetricsFactory) {
      let dimensions = operation.dimensions
      duration = Timer(label: "heartwood.operation.duration", dimensions: dimensions, factory: factory)
      waiting = Timer(label: "heartwood.operation.waiting", dimensions: dimensions, factory: factory)
      records = Recorder(
        label: "heartwood.operation.records",
        dimensions: dimensions,
        aggregate: true,
        factory: factory
      )
    }

    func report(_ result: StoreOperation.Result, _ operation: StoreOperation, _ factory: any MetricsFactory) {
      duration.recordNanoseconds(Int64(result.duration / .nanoseconds(1)))
      if result.waited > .zero { waiting.recordNanoseconds(Int64(result.waited / .nanoseconds(1))) }
      if let count = result.recordCount { records.record(count) }
      guard let error = result.error else { return }
      let code = ("code", OperationMetrics.code(of: error))
      Counter(label: "heartwood.operation.errors", dimensions: operation.dimensions + [code], factory: factory)
        .increment()
      if let error = error as? PersistenceError, error.code == .saveConflict || error.code == .constraintConflict {
        let store = ("store", operation.storeType?.rawValue ?? "any")
        Counter(label: "heartwood.conflicts", dimensions: [store, code], factory: factory).increment()
      }
    }
  }

  /// The metrics that have been made so far: a factory may take long to find one again.
  private final class KnownMetrics: Sendable {
    private let sets = Mutex<[StoreOperation: OperationMetricSet]>([:])

    func metrics(of operation: StoreOperation, _ factory: any MetricsFactory) -> OperationMetricSet {
      sets.withLock { sets in
        if let set = sets[operation] { return set }
        let set = OperationMetricSet(operation, factory)
        sets[operation] = set
        return set
      }
    }
  }
#endif
