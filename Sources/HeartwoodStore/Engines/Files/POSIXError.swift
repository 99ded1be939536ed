#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension PersistenceError {
  /// A system call has failed and has left its reason in `errno`.
  static func system(_ code: Code, _ message: String, path: String) -> PersistenceError {
    let number = errno
    return PersistenceError(
      code,
      "\(message): \(String(cString: strerror(number))).",
      context: Context(path: path, systemError: number)
    )
  }
}
