#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Where an application of this platform keeps what belongs to its user.
package struct DefaultDirectory: Sendable {
  private let application: String
  private let environment: [String: String]
  private let home: URL

  /// - Parameters:
  ///   - application: what the application's folder is called; nil means as the process.
  ///   - environment: the variables of the process.
  ///   - home: the folder of the user; nil means what the system tells.
  package init(
    application: String? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    home: URL? = nil
  ) {
    self.application = application ?? ProcessInfo.processInfo.processName
    self.environment = environment
    self.home = home ?? Self.home
  }

  private static var home: URL {
    #if canImport(Darwin)
      // homeDirectoryForCurrentUser exists on macOS only.
      URL(filePath: NSHomeDirectory())
    #else
      FileManager.default.homeDirectoryForCurrentUser
    #endif
  }

  /// The folder of the application's files.
  package var url: URL {
    #if canImport(Darwin)
      home.appending(path: "Library/Application Support").appending(path: application)
    #else
      dataHome.appending(path: application)
    #endif
  }

  /// The folder where programs kept such files before there was a convention.
  package var formerURL: URL { home.appending(path: ".\(application)") }

  /// As the XDG Base Directory Specification has it: a relative path is as if it was not there.
  private var dataHome: URL {
    if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") { return URL(filePath: path) }
    return home.appending(path: ".local/share")
  }

  /// Creates the folder, accessible to its owner only (0700).
  static func make(_ url: URL) throws {
    try FileManager.default.createDirectory(
      at: url,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
  }
}
