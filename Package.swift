// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

/// The settings of every target: Swift 6 mode, warnings as errors, and explicit imports.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "Heartwood",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Heartwood", targets: ["Heartwood"]),
    .library(name: "HeartwoodMacros", targets: ["HeartwoodMacros"]),
    .library(name: "HeartwoodWrappers", targets: ["HeartwoodWrappers"]),
    .library(name: "HeartwoodSQLite", targets: ["HeartwoodSQLite"]),
    .library(name: "HeartwoodPostgreSQL", targets: ["HeartwoodPostgreSQL"]),
    .library(name: "HeartwoodImporting", targets: ["HeartwoodImporting"]),
    .library(name: "HeartwoodDocuments", targets: ["HeartwoodDocuments"]),
    .library(name: "HeartwoodMetrics", targets: ["HeartwoodMetrics"]),
    .library(name: "HeartwoodBrowser", targets: ["HeartwoodBrowser"]),
    .library(name: "HeartwoodTesting", targets: ["HeartwoodTesting"]),
    .executable(name: "heartwood", targets: ["HeartwoodTool"]),
    .executable(name: "heartwood-coredata", targets: ["CoreDataTool"]),
    .plugin(name: "HeartwoodClasses", targets: ["HeartwoodClasses"]),
  ],
  // Dependencies that only a disabled trait needs are not fetched. With `traits: []`, a package that depends on the
  // product Heartwood fetches only swift-log. All traits except the last are enabled by default, so that this package
  // builds and tests everything.
  traits: [
    .default(enabledTraits: ["SQLite", "Encryption", "Macros", "Metrics", "Tool"]),
    .trait(name: "SQLite", description: "The product HeartwoodSQLite, with GRDB."),
    .trait(name: "Encryption", description: "The product HeartwoodWrappers, with swift-crypto."),
    .trait(name: "Macros", description: "The product HeartwoodMacros, with swift-syntax."),
    .trait(
      name: "Metrics",
      description: "The product HeartwoodMetrics, with swift-metrics and swift-distributed-tracing."
    ),
    .trait(name: "Tool", description: "The product heartwood, with swift-argument-parser."),
    .trait(
      name: "GeneratedClasses",
      description:
        "Lets the plugin HeartwoodClasses make the classes of a target's models. What it runs is built for the host."
    ),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    // It uses the SQLite of the system: libsqlite3-dev on Debian and Ubuntu, part of macOS.
    .package(url: "https://github.com/groue/GRDB.swift", "7.10.0"..<"8.0.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibXML2",
      pkgConfig: "libxml-2.0",
      providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]
    ),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    // Functions of SQLite that are only available in C. It finds sqlite3.h in the same place as GRDB.
    .target(name: "CHeartwoodSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "HeartwoodFoundation", swiftSettings: settings),
    .target(name: "HeartwoodModel", dependencies: ["HeartwoodFoundation"], swiftSettings: settings),
    .target(name: "HeartwoodStore", dependencies: ["HeartwoodFoundation", "HeartwoodModel"], swiftSettings: settings),
    .target(
      name: "HeartwoodFormats",
      dependencies: ["HeartwoodFoundation", "HeartwoodStore", "HeartwoodModel", "CLibXML2"],
      swiftSettings: settings
    ),
    // Records as text, for the tool, the browser and tests. It is not part of a product's API.
    .target(
      name: "HeartwoodRecordText",
      dependencies: ["HeartwoodFoundation", "HeartwoodStore", "HeartwoodModel"],
      swiftSettings: settings
    ),
    // Pages that show stores, without a server.
    .target(
      name: "HeartwoodBrowser",
      dependencies: [
        "HeartwoodFormats", "HeartwoodFoundation", "HeartwoodGraph", "HeartwoodImporting", "HeartwoodRecordText",
        "HeartwoodStore", "HeartwoodModel",
      ],
      exclude: ["Assets"],
      swiftSettings: settings
    ),
    .target(
      name: "HeartwoodModelFiles",
      dependencies: ["HeartwoodFoundation", "HeartwoodFormats", "HeartwoodStore", "HeartwoodModel"],
      swiftSettings: settings
    ),
    .target(
      name: "HeartwoodGraph",
      dependencies: [
        "HeartwoodFoundation", "HeartwoodStore", "HeartwoodModel", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "HeartwoodImporting",
      dependencies: ["HeartwoodFoundation", "HeartwoodGraph", "HeartwoodStore", "HeartwoodModel"],
      swiftSettings: settings
    ),
    .target(
      name: "HeartwoodMetrics",
      dependencies: [
        "HeartwoodGraph", "HeartwoodStore",
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Metrics"])),
      ],
      packageAccess: false,
      swiftSettings: settings
    ),
    .target(
      name: "HeartwoodDocuments",
      dependencies: ["HeartwoodFoundation", "HeartwoodGraph", "HeartwoodStore", "HeartwoodModel"],
      swiftSettings: settings
    ),
    .target(
      name: "Heartwood",
      dependencies: [
        "HeartwoodFoundation", "HeartwoodGraph", "HeartwoodModelFiles", "HeartwoodFormats", "HeartwoodStore",
        "HeartwoodModel",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "HeartwoodWrappers",
      dependencies: [
        "HeartwoodFoundation", "HeartwoodStore", "HeartwoodModel", "CZlib",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
        .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings
    ),
    // It uses only the public API of the modules below, as the store of another package does: the compiler checks that.
    .target(
      name: "HeartwoodSQLite",
      dependencies: [
        "HeartwoodFoundation", "HeartwoodModelFiles", "HeartwoodFormats", "HeartwoodStore", "HeartwoodModel", "CZlib",
        "CHeartwoodSQLite",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
        .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
      ],
      packageAccess: false,
      swiftSettings: settings
    ),
    // It loads libpq at run time, so it links nothing. It uses only the public API of the modules below.
    .target(
      name: "HeartwoodPostgreSQL",
      dependencies: ["HeartwoodFoundation", "HeartwoodStore", "HeartwoodModel"],
      packageAccess: false,
      swiftSettings: settings
    ),
    // It is separate from the macro target, because tests of a macro target are built for the host, together with all
    // other tests and their dependencies.
    .target(
      name: "HeartwoodMacroExpansion",
      dependencies: [
        .product(name: "SwiftDiagnostics", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntax", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ],
      swiftSettings: settings
    ),
    .macro(
      name: "HeartwoodMacroPlugin",
      dependencies: [
        "HeartwoodMacroExpansion",
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ],
      swiftSettings: settings
    ),
    .target(name: "HeartwoodMacros", dependencies: ["Heartwood", "HeartwoodMacroPlugin"], swiftSettings: settings),
    // Finds classes by their names in the records of types that the compiler writes.
    .target(name: "CCoreDataRuntime"),
    // Turns sources that were written for Apple's CoreData into sources that Swift compiles elsewhere.
    .target(
      name: "CoreDataRewriting",
      dependencies: [
        .product(name: "SwiftParser", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntax", package: "swift-syntax", condition: .when(traits: ["Macros"])),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "CoreDataTool",
      dependencies: ["CoreDataRewriting", "HeartwoodModelFiles", "HeartwoodModel"],
      resources: [.copy("StandIns")],
      swiftSettings: settings
    ),
    .target(
      name: "HeartwoodGeneration",
      dependencies: ["HeartwoodFoundation", "HeartwoodModel"],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "HeartwoodGenerate",
      dependencies: ["HeartwoodModelFiles", "HeartwoodGeneration"],
      swiftSettings: settings
    ),
    .plugin(
      name: "HeartwoodClasses",
      capability: .buildTool(),
      dependencies: [.target(name: "HeartwoodGenerate", condition: .when(traits: ["GeneratedClasses"]))]
    ),
    .target(
      name: "HeartwoodTesting",
      dependencies: ["HeartwoodFoundation", "Heartwood", "HeartwoodGraph", "HeartwoodStore", "HeartwoodModel"],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "HeartwoodTool",
      dependencies: [
        "HeartwoodFoundation", "Heartwood", "HeartwoodModelFiles", "HeartwoodFormats", "HeartwoodGeneration",
        "HeartwoodBrowser", "HeartwoodImporting",
        "HeartwoodModel", "HeartwoodPostgreSQL", "HeartwoodRecordText", "HeartwoodSQLite", "HeartwoodStore",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
      ],
      swiftSettings: settings
    ),
    // Helpers for several test targets.
    .target(
      name: "TestSupport",
      dependencies: ["HeartwoodModel", "HeartwoodTesting"],
      path: "Tests/TestSupport",
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodStoreTests",
      dependencies: ["HeartwoodStore", "HeartwoodModel", "HeartwoodTesting", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodWrappersTests",
      dependencies: [
        "Heartwood", "HeartwoodStore", "HeartwoodTesting", "HeartwoodWrappers", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings
    ),
    // Another process that uses a store, for tests.
    .executableTarget(
      name: "SQLiteWorker",
      dependencies: ["Heartwood", "HeartwoodSQLite", "HeartwoodStore"],
      path: "Tests/SQLiteWorker",
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodSQLiteTests",
      dependencies: [
        "Heartwood", "HeartwoodSQLite", "HeartwoodFormats", "HeartwoodModelFiles", "HeartwoodGraph", "HeartwoodStore",
        "HeartwoodModel", "HeartwoodTesting", "CZlib", "SQLiteWorker", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodMetricsTests",
      dependencies: [
        "Heartwood", "HeartwoodMetrics", "HeartwoodSQLite",
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Metrics"])),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: .when(traits: ["Metrics"])),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodPostgreSQLTests",
      dependencies: [
        "Heartwood", "HeartwoodPostgreSQL", "HeartwoodStore", "HeartwoodModel", "HeartwoodTesting", "HeartwoodTool",
        "PostgreSQLServers", "TestSupport",
      ],
      swiftSettings: settings
    ),
    // PostgreSQL servers that tests and campaigns start.
    .target(name: "PostgreSQLServers", path: "Tests/PostgreSQLServers", swiftSettings: settings),
    // Tests of stores that take longer than unit tests, for `Scripts/campaign`.
    .executableTarget(
      name: "StoreCampaign",
      dependencies: [
        "Heartwood", "HeartwoodFormats", "HeartwoodModel", "HeartwoodPostgreSQL", "HeartwoodSQLite", "HeartwoodStore",
        "PostgreSQLServers",
      ],
      path: "Tests/StoreCampaign",
      swiftSettings: settings
    ),
    // Trials of every parser, for tests and for the fuzzer.
    .target(
      name: "ParserTrials",
      dependencies: [
        "Heartwood", "HeartwoodFormats", "HeartwoodModelFiles", "HeartwoodModel", "HeartwoodSQLite", "HeartwoodStore",
        "HeartwoodTesting",
      ],
      path: "Tests/ParserTrials",
      swiftSettings: settings
    ),
    // A separate process, so that its memory is not shared with other tests.
    .executableTarget(
      name: "TrialWorker",
      dependencies: ["ParserTrials"],
      path: "Tests/TrialWorker",
      swiftSettings: settings
    ),
    .testTarget(
      name: "ParserTrialsTests",
      dependencies: ["ParserTrials", "TestSupport", "TrialWorker"],
      exclude: ["Findings", "Seeds"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodToolTests",
      dependencies: [
        "HeartwoodGenerate", "HeartwoodTool", "HeartwoodTesting", "Heartwood", "HeartwoodSQLite", "HeartwoodStore",
        "HeartwoodWrappers", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodBrowserTests",
      dependencies: [
        "Heartwood", "HeartwoodBrowser", "HeartwoodGraph", "HeartwoodModel", "HeartwoodSQLite", "HeartwoodStore",
        "HeartwoodTesting", "HeartwoodTool", "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "ConformanceTests",
      dependencies: [
        "Heartwood", "HeartwoodGraph", "HeartwoodModel", "HeartwoodSQLite", "HeartwoodStore", "HeartwoodTesting",
        "HeartwoodWrappers", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodGraphTests",
      dependencies: [
        "Heartwood", "HeartwoodDocuments", "HeartwoodGraph", "HeartwoodFormats", "HeartwoodImporting",
        "HeartwoodModelFiles", "HeartwoodSQLite", "HeartwoodStore", "HeartwoodModel", "HeartwoodTesting",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodTests",
      dependencies: [
        "Heartwood", "HeartwoodFormats", "HeartwoodModelFiles", "HeartwoodGraph", "HeartwoodMetrics", "HeartwoodModel",
        "HeartwoodSQLite", "HeartwoodStore",
        "HeartwoodTesting", .product(name: "Logging", package: "swift-log"),
      ],
      resources: [.copy("Resources/Notes.json")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "ReferenceModelTests",
      dependencies: [
        "Heartwood", "HeartwoodGraph", "HeartwoodSQLite", "HeartwoodStore", "HeartwoodModel", "HeartwoodTesting",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodMacroExpansionTests",
      dependencies: [
        "HeartwoodMacroExpansion",
        .product(name: "SwiftSyntax", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
        .product(
          name: "SwiftSyntaxMacrosGenericTestSupport",
          package: "swift-syntax",
          condition: .when(traits: ["Macros"])
        ),
      ],
      swiftSettings: settings
    ),
    .testTarget(name: "CoreDataRewritingTests", dependencies: ["CoreDataRewriting"], swiftSettings: settings),
    .testTarget(
      name: "HeartwoodMacrosTests",
      dependencies: ["HeartwoodMacros", "HeartwoodTesting"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodGenerationTests",
      dependencies: ["HeartwoodGeneration", "HeartwoodModel"],
      swiftSettings: settings
    ),
    .testTarget(name: "ArchitectureTests", swiftSettings: settings),
    .testTarget(
      name: "CompilerTests",
      dependencies: [
        "Heartwood", "HeartwoodFormats", "HeartwoodModelFiles", "HeartwoodGeneration", "HeartwoodGraph",
        "HeartwoodModel", "HeartwoodTesting",
      ],
      exclude: ["Models", "Snippets"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodModelTests",
      dependencies: ["HeartwoodModel", "HeartwoodTesting", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodModelFilesTests",
      dependencies: [
        "HeartwoodModelFiles", "HeartwoodFormats", "HeartwoodStore", "HeartwoodModel", "HeartwoodTesting",
        "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodRecordTextTests",
      dependencies: ["HeartwoodRecordText", "HeartwoodStore", "HeartwoodModel", "HeartwoodTesting"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "HeartwoodFormatsTests",
      dependencies: [
        "HeartwoodFormats", "HeartwoodRecordText", "HeartwoodStore", "HeartwoodModel", "HeartwoodTesting",
        "TestSupport",
      ],
      swiftSettings: settings
    ),
  ]
)

// Core Data's own API. On macOS, the module CoreData is Apple's: there the product re-exports it, and no target has
// that name.
#if os(macOS)
  package.products.append(.library(name: "CoreData", targets: ["AppleCoreData"]))
  package.targets += [
    .target(name: "AppleCoreData", swiftSettings: settings)
  ]
#else
  package.products.append(.library(name: "CoreData", targets: ["CoreData"]))
  package.products.append(.library(name: "MagicalRecord", targets: ["MagicalRecord"]))
  package.targets += [
    .target(
      name: "CoreData",
      dependencies: [
        "CCoreDataRuntime", "Heartwood", "HeartwoodGraph", "HeartwoodModelFiles", "HeartwoodModel", "HeartwoodSQLite",
        "HeartwoodStore",
      ],
      swiftSettings: settings
    ),
    .testTarget(name: "CoreDataTests", dependencies: ["CoreData"], swiftSettings: settings),
    // The conveniences of MagicalRecord, for source that was written with it.
    .target(name: "MagicalRecord", dependencies: ["CoreData", "HeartwoodModel"], swiftSettings: settings),
    .testTarget(name: "MagicalRecordTests", dependencies: ["MagicalRecord"], swiftSettings: settings),
  ]
#endif

// libFuzzer provides `main`, and is linked only for `Scripts/fuzz`.
if Context.environment["HEARTWOOD_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzzer",
      dependencies: ["ParserTrials"],
      path: "Tests/Fuzzer",
      swiftSettings: settings
    )
  )
}

// Adds coverage counters to the targets of this package only, for `Scripts/coverage`.
if Context.environment["HEARTWOOD_COVERAGE"] != nil {
  for target in package.targets where [.regular, .executable, .macro, .test].contains(target.type) {
    let counters = SwiftSetting.unsafeFlags(["-profile-generate", "-profile-coverage-mapping"])
    if target.type != .test { target.swiftSettings = (target.swiftSettings ?? []) + [counters] }
    target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-profile-generate"])]
  }
}

// Without the macros, swift-syntax is not built, which would take most of the time of an optimized build or one for a
// sanitizer.
if Context.environment["HEARTWOOD_WITHOUT_MACROS"] != nil {
  package.products.removeAll { ["HeartwoodMacros", "heartwood-coredata"].contains($0.name) }
  package.targets.removeAll { $0.name.hasPrefix("HeartwoodMacro") }
  package.targets.removeAll { ["CoreDataTool", "CoreDataRewriting", "CoreDataRewritingTests"].contains($0.name) }
  package.dependencies.removeAll {
    if case .sourceControl(_, let location, _) = $0.kind { location.hasSuffix("swift-syntax") } else { false }
  }
}

// Builds only the given test targets ("HeartwoodModelTests HeartwoodStoreTests"), for work on the modules that they
// test.
if let names = Context.environment["HEARTWOOD_TESTS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
