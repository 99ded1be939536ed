#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Blocks the calling thread, which is not one of Swift's cooperative threads.
enum Waiting {
  static func sleep(microseconds: Int) {
    usleep(UInt32(clamping: microseconds))
  }
}
