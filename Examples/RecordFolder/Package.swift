// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "RecordFolder",
  platforms: [.macOS(.v15)],
  products: [.library(name: "RecordFolder", targets: ["RecordFolder"])],
  dependencies: [.package(name: "Heartwood", path: "../..")],
  targets: [
    .target(name: "RecordFolder", dependencies: [.product(name: "Heartwood", package: "Heartwood")]),
    .testTarget(
      name: "RecordFolderTests",
      dependencies: ["RecordFolder", .product(name: "HeartwoodTesting", package: "Heartwood")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
