// swift-tools-version: 6.2

import PackageDescription

// A package of its own, as a user of Heartwood has it: the classes of the model are made when it is built.
let package = Package(
  name: "GeneratedClasses",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Heartwood", path: "../..", traits: ["GeneratedClasses"])],
  targets: [
    .target(
      name: "Chores",
      dependencies: [.product(name: "Heartwood", package: "Heartwood")],
      exclude: ["Chores.xcdatamodeld"],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)],
      plugins: [.plugin(name: "HeartwoodClasses", package: "Heartwood")]
    ),
    .testTarget(
      name: "ChoresTests",
      dependencies: ["Chores", .product(name: "Heartwood", package: "Heartwood")],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
    ),
  ]
)
