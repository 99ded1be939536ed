import BenchmarkSupport
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Runs a command and tells what it took: Foundation's `Process` does not tell the peak of the memory.
enum ChildProcess {
  struct Outcome {
    /// From just before the start to the end of the process.
    let seconds: Double
    /// The most memory that was resident at once. The system counts from before the command replaced this program in the new
    /// process, so it is never below what this program has itself, about 20 MB.
    let peakBytes: Int
    let output: Data
  }

  /// Runs `command`, whose first element is a path, and keeps its standard output.
  ///
  /// - Throws: ``BenchmarkError`` where it cannot be started or its exit status is not 0.
  static func run(_ command: [String]) throws -> Outcome {
    // A pipe: a file would be one more thing for the disk to write while the command waits for it.
    let pipe = Pipe()
    let clock = ContinuousClock()
    let start = clock.now
    let identifier = try spawn(command, output: pipe)
    try pipe.fileHandleForWriting.close()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    var status: Int32 = 0
    var usage = rusage()
    while wait4(identifier, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw BenchmarkError("\(command[0]) was lost: \(String(cString: strerror(errno)))") }
    }
    let duration = clock.now - start
    guard status == 0 else {
      let how = status & 0x7F == 0 ? "exit status \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
      let text = String(decoding: output, as: UTF8.self)
      throw BenchmarkError("`\(command.joined(separator: " "))` ended with \(how). \(text)")
    }
    return Outcome(seconds: duration.seconds, peakBytes: peakBytes(usage), output: output)
  }

  private static func spawn(_ command: [String], output: Pipe) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, output.fileHandleForWriting.fileDescriptor)
    posix_spawn_file_actions_addclose(&actions, output.fileHandleForReading.fileDescriptor)
    var arguments = command.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    arguments.append(nil)
    var identifier: pid_t = 0
    let result = posix_spawn(&identifier, command[0], &actions, nil, arguments, environ)
    guard result == 0 else {
      throw BenchmarkError("\(command[0]) cannot be started: \(String(cString: strerror(result)))")
    }
    return identifier
  }

  private static func peakBytes(_ usage: rusage) -> Int {
    #if canImport(Darwin)
      Int(usage.ru_maxrss)
    #else
      Int(usage.ru_maxrss) * 1024
    #endif
  }
}
