// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "RecordService",
  platforms: [.macOS(.v15)],
  products: [.library(name: "RecordService", targets: ["RecordService"])],
  dependencies: [
    .package(name: "Heartwood", path: "../.."),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    .target(name: "RecordService", dependencies: [.product(name: "Heartwood", package: "Heartwood")]),
    .target(
      name: "RecordServer",
      dependencies: [
        "RecordService", .product(name: "FlyingFox", package: "FlyingFox"),
        .product(name: "Heartwood", package: "Heartwood"),
      ]
    ),
    .testTarget(
      name: "RecordServiceTests",
      dependencies: [
        "RecordService", "RecordServer", .product(name: "HeartwoodTesting", package: "Heartwood"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)
