import Heartwood
import Synchronization

/// Stops an incremental store at one of the steps that a save takes it, and lets somebody look at each.
///
/// A step is the beginning or the end of a method that changes something. What the store does within one, only the store knows.
final class StoreInterruption: Sendable {
  /// What a stopped store throws.
  struct Stop: Error, CustomStringConvertible {
    let description: String
  }

  private struct State {
    var step = 0
    var stop: Int?
    var hasStopped = false
    var last = "none"
    var observedStep: Int?
    var observed = "none"
  }

  private let state = Mutex(State())
  private let observer: @Sendable () throws -> Void

  /// - Parameter observer: called at the step that is asked for.
  init(observer: @escaping @Sendable () throws -> Void = {}) {
    self.observer = observer
  }

  /// How many steps there have been.
  var step: Int { state.withLock { $0.step } }
  var hasStopped: Bool { state.withLock { $0.hasStopped } }
  /// What the last step was.
  var last: String { state.withLock { $0.last } }
  /// What the step was at which the observer was called.
  var observed: String { state.withLock { $0.observed } }

  /// Lets the store fail at a step.
  func stop(at step: Int) { state.withLock { $0.stop = step } }

  /// Calls the observer at a step.
  func observe(at step: Int) { state.withLock { $0.observedStep = step } }

  /// Takes a step.
  func pass(_ what: String) throws {
    let (isObserved, isStop) = state.withLock { state in
      state.step += 1
      state.last = what
      let isStop = state.step == state.stop
      state.hasStopped = state.hasStopped || isStop
      if state.step == state.observedStep { state.observed = what }
      return (state.step == state.observedStep, isStop)
    }
    if isObserved { try observer() }
    if isStop { throw Stop(description: "stopped at \(what)") }
  }
}

extension StoreOptionKey<StoreInterruption> {
  static let interruption = StoreOptionKey("HeartwoodTesting.interruption")
}

extension StoreConformance {
  /// The same store, which `interruption` stops.
  func interrupted(by interruption: StoreInterruption) throws -> StoreConformance {
    let incremental = try unwrap(storeClass as? any IncrementalStore.Type, "an incremental store")
    var conformance = self
    conformance.storeClass = Self.interrupted(incremental)
    let options = options
    conformance.options = { model in
      var options = options(model)
      options[.interruption] = interruption
      return options
    }
    return conformance
  }

  private static func interrupted<Base: IncrementalStore>(_ storeClass: Base.Type) -> any StoreClass.Type {
    InterruptedStore<Base>.self
  }
}
