// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "ColumnFile",
  platforms: [.macOS(.v15)],
  products: [.library(name: "ColumnFile", targets: ["ColumnFile"])],
  dependencies: [.package(name: "Heartwood", path: "../..")],
  targets: [
    .target(name: "ColumnFile", dependencies: [.product(name: "Heartwood", package: "Heartwood")]),
    .testTarget(
      name: "ColumnFileTests",
      dependencies: ["ColumnFile", .product(name: "HeartwoodTesting", package: "Heartwood")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
