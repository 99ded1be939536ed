// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "JSONLines",
  platforms: [.macOS(.v15)],
  products: [.library(name: "JSONLines", targets: ["JSONLines"])],
  dependencies: [.package(name: "Heartwood", path: "../..")],
  targets: [
    .target(name: "JSONLines", dependencies: [.product(name: "Heartwood", package: "Heartwood")]),
    .testTarget(
      name: "JSONLinesTests",
      dependencies: ["JSONLines", .product(name: "HeartwoodTesting", package: "Heartwood")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
