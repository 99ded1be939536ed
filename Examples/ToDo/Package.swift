// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

// A package of its own, as a user of Heartwood has it: the classes of its models are made when it is built.
let package = Package(
  name: "ToDo",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Heartwood", path: "../..", traits: ["GeneratedClasses", "SQLite"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "todo",
      dependencies: [
        .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "HeartwoodSQLite", package: "Heartwood"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      // All versions of the model, so that files of older ones can be migrated.
      resources: [.copy("ToDo.xcdatamodeld")],
      swiftSettings: settings,
      plugins: [.plugin(name: "HeartwoodClasses", package: "Heartwood")]
    ),
    .testTarget(
      name: "ToDoTests",
      dependencies: [
        "todo", .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    // What else the plugin makes of a model.
    .target(
      name: "Chores",
      dependencies: [.product(name: "Heartwood", package: "Heartwood")],
      exclude: ["Chores.xcdatamodeld"],
      swiftSettings: settings,
      plugins: [.plugin(name: "HeartwoodClasses", package: "Heartwood")]
    ),
    .testTarget(
      name: "ChoresTests",
      dependencies: ["Chores", .product(name: "Heartwood", package: "Heartwood")],
      swiftSettings: settings
    ),
  ]
)
