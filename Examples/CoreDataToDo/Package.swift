// swift-tools-version: 5.9

import PackageDescription

let package = Package(
  name: "CoreDataToDo",
  platforms: [.macOS("15.0")],
  products: [.executable(name: "todos", targets: ["TodosCommand"])],
  dependencies: [.package(name: "Heartwood", path: "../..")],
  targets: [
    .target(
      name: "ToDos",
      dependencies: [
        // On a Mac, `import CoreData` means Apple's framework, and this line does nothing.
        .product(name: "CoreData", package: "Heartwood", condition: .when(platforms: [.linux, .android, .windows]))
      ],
      resources: [.process("ToDos.xcdatamodeld")]
    ),
    .executableTarget(name: "TodosCommand", dependencies: ["ToDos"], path: "Sources/todos-cli"),
    .testTarget(name: "ToDosTests", dependencies: ["ToDos"]),
  ],
  swiftLanguageVersions: [.v5]
)
