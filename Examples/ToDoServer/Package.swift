// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
  name: "ToDoServer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Heartwood", path: "../..", traits: ["SQLite"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "ToDoServer",
      dependencies: [
        .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "HeartwoodBrowser", package: "Heartwood"),
        .product(name: "HeartwoodPostgreSQL", package: "Heartwood"),
        .product(name: "HeartwoodSQLite", package: "Heartwood"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "todo-server",
      dependencies: ["ToDoServer", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "ToDoServerTests",
      dependencies: ["ToDoServer", .product(name: "HummingbirdTesting", package: "hummingbird")],
      swiftSettings: settings
    ),
  ]
)
