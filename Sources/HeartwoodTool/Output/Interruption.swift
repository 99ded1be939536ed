import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Does something before a signal by which a user ends the process ends it.
final class Interruption {
  private let sources: [(signal: Int32, source: any DispatchSourceSignal)]

  /// - Parameter cleanUp: called on a thread of its own, while the work goes on.
  init(_ cleanUp: @escaping @Sendable () -> Void) {
    sources = [SIGHUP, SIGINT, SIGTERM].compactMap { number in
      // Who starts the process with a signal ignored, as nohup does, wants it to go on.
      guard signal(number, SIG_IGN) == nil else { return nil }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        cleanUp()
        signal(number, SIG_DFL)
        kill(getpid(), number)
      }
      source.activate()
      return (number, source)
    }
  }

  /// Lets signals end the process at once again.
  func end() {
    for (number, source) in sources {
      source.cancel()
      signal(number, SIG_DFL)
    }
  }
}
