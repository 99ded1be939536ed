#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Waiting on the calling thread, which is none of Swift's cooperative ones.
enum Waiting {
  static func sleep(microseconds: Int) {
    usleep(UInt32(clamping: microseconds))
  }
}
