// swift-tools-version: 6.2

import PackageDescription

/// The rules of the parent package.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// A package of its own, so that what Heartwood is compared with is no dependency of its users.
let package = Package(
  name: "HeartwoodBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Heartwood", path: ".."),
    .package(name: "ColumnFile", path: "../Examples/ColumnFile"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", "7.10.0"..<"8.0.0"),
  ],
  targets: [
    .target(name: "BenchmarkSupport", swiftSettings: settings),
    .executableTarget(
      name: "HeartwoodBenchmarks",
      dependencies: ["BenchmarkSupport", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "HeartwoodCases",
      dependencies: [
        "BenchmarkSupport",
        .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "ColumnFile", package: "ColumnFile"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "SQLiteCases",
      dependencies: [
        "BenchmarkSupport",
        .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "HeartwoodSQLite", package: "Heartwood"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "CoreDataCases",
      dependencies: [
        "BenchmarkSupport",
        .product(name: "CoreData", package: "Heartwood"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "PostgreSQLCases",
      dependencies: [
        "BenchmarkSupport",
        .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "HeartwoodPostgreSQL", package: "Heartwood"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .systemLibrary(
      name: "CLibXML2Peer",
      pkgConfig: "libxml-2.0",
      providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]
    ),
    .target(name: "CXMLPeer", dependencies: ["CLibXML2Peer"]),
    .executableTarget(
      name: "FormatPeer",
      dependencies: [
        "BenchmarkSupport", "CXMLPeer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "GRDBPeer",
      dependencies: [
        "BenchmarkSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    .testTarget(name: "BenchmarkSupportTests", dependencies: ["BenchmarkSupport"], swiftSettings: settings),
  ]
)
