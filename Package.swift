// swift-tools-version: 6.1
import PackageDescription

let log: Target.Dependency = .product(name: "Logging", package: "swift-log")

/// A product that only the sandbox org needs.
func sandbox(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Sandbox"]))
}

/// Links the Swift runtime into a product, so that it runs without a toolchain.
let selfContained: [LinkerSetting] = [
  .unsafeFlags(["-static-stdlib"], .when(platforms: [.linux])),
  // FoundationEssentials uses these but does not ask the linker for them.
  .linkedLibrary("_FoundationCollections"), .linkedLibrary("_FoundationCShims"),
]
let sharedLibrary: [LinkerSetting] = [
  .unsafeFlags(
    [
      // Keeps the library loaded after Lua has closed: threads of the Swift runtime still sleep in it.
      "-Xlinker", "-z", "-Xlinker", "nodelete", "-Xlinker", "-soname", "-Xlinker", "libtureen.so.0",
      "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/CTureenModule/tureen.map",
    ], .when(platforms: [.linux]))
]

/// The linker of the toolchain, which takes half the time of the system's: a build links seven programs with all of Tureen.
/// Releases are linked by the system's.
let fastLink: LinkerSetting = .unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux], configuration: .debug))

let package = Package(
  name: "tureen",
  products: [
    .executable(name: "tureen", targets: ["TureenCLI"]),
    // The process of isolated scripts, which the command starts.
    .executable(name: "tureen-worker", targets: ["tureen-worker"]),
    .library(name: "Tureen", targets: ["Tureen"]),
    // scripts/dev/library installs it as libtureen.so and tureen.so: a product cannot share the executable's name.
    .library(name: "TureenShared", type: .dynamic, targets: ["CTureenModule"]),
  ],
  traits: [
    .trait(
      name: "Sandbox",
      description: "The sandbox org: `tureen sandbox`, and the org that `tureen run` starts by itself. On by default."),
    .default(enabledTraits: ["Sandbox"]),
    .trait(
      name: "Encryption",
      description: "Stores can be encrypted: SQLCipher (libsqlcipher-dev, 4.5 or newer) takes the place of SQLite."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .systemLibrary(name: "CLua"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CSQLCipher"),
    .systemLibrary(name: "CZlib"),
    // PCRE2 is loaded at run time, for the regular expressions of queries: it has limits, and is what Parse's database uses.
    .target(name: "CPcre", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // OpenSSL is loaded at run time, too: digests, signatures, and the TLS of the sandbox.
    .target(name: "COpenSSL", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "Support", dependencies: ["COpenSSL", "CPcre"]),
    .target(name: "RecordScan"),
    .target(name: "JSON", dependencies: ["RecordScan", "Support"]),
    .target(
      name: "Database",
      dependencies: ["CSQLite", .target(name: "CSQLCipher", condition: .when(traits: ["Encryption"])), "Support"]),
    .target(name: "SmartStore", dependencies: ["Database", "RecordScan", "JSON", "Support"]),
    // libpq is loaded at run time: neither building nor a store in SQLite needs it.
    .target(name: "CPostgres", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "PostgresStore", dependencies: ["CPostgres", "SmartStore", "RecordScan", "JSON", "Support"]),
    // libcurl is loaded at run time, with the TLS library that it was built with: HTTP is patched by the system.
    .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "RestClient", dependencies: ["CCurl", "Database", "JSON", "Support", log]),
    .target(name: "MobileSync", dependencies: ["SmartStore", "RestClient", "RecordScan", "JSON", "Support", log]),
    .target(
      name: "Salesforce",
      dependencies: [
        "MobileSync", "SmartStore", "RestClient", "RecordScan", "JSON", "Support", log,
      ]),
    .target(
      name: "RestCollections", dependencies: ["MobileSync", "SmartStore", "RestClient", "RecordScan", "JSON", "Support", log]),
    .target(name: "Parse", dependencies: ["MobileSync", "SmartStore", "RestClient", "RecordScan", "JSON", "Support", log]),
    .target(name: "CLuaBridge", dependencies: ["CLua"]),
    // What isolated scripts run in: the protocol and the start of its process, and the process itself, which has no Swift in it.
    .target(name: "CIsolation"),
    .executableTarget(
      name: "tureen-worker", dependencies: ["CLuaBridge", "CIsolation"], path: "Sources/TureenWorker",
      // Without Swift's start and its runtime.
      linkerSettings: [.unsafeFlags(["-static-stdlib", "-nostartfiles"], .when(platforms: [.linux])), .linkedLibrary("lua5.4")]),
    .target(
      name: "LuaBridge",
      dependencies: ["CLua", "CLuaBridge", "CIsolation", "JSON", "Support"],
      exclude: ["Lua"]),
    // The start of a program that must not outlive this one.
    .target(name: "CChildProcess"),
    // The HTTP front of every pretend server; it knows no vendor.
    .target(
      name: "SandboxServer",
      dependencies: [
        "COpenSSL", "CZlib", "JSON", "Support", sandbox("NIOCore", "swift-nio"), sandbox("NIOPosix", "swift-nio"),
        sandbox("NIOHTTP1", "swift-nio"),
      ]),
    .target(name: "SandboxOrg", dependencies: ["SandboxServer", "Database", "JSON", "RecordScan", "Support"]),
    .target(name: "SandboxForge", dependencies: ["SandboxServer", "CZlib", "JSON", "Support"]),
    .target(name: "SandboxParse", dependencies: ["SandboxServer", "JSON", "Support"]),
    .target(
      name: "Tureen",
      dependencies: [
        "LuaBridge", "Salesforce", "RestCollections", "Parse", "MobileSync", "PostgresStore", "SmartStore", "RestClient", "JSON",
        "RecordScan", "Support", "CChildProcess", log,
      ]),
    .target(
      name: "CTureenModule", dependencies: ["CLua", "CLuaBridge", "Tureen"], exclude: ["tureen.map"],
      linkerSettings: selfContained + sharedLibrary + [fastLink]),
    // The page of `tureen inspect` and what serves it; the command alone links them.
    .target(name: "CInspectorAssets", exclude: ["page"]),
    .target(
      name: "Inspector", dependencies: ["CInspectorAssets", "Tureen", "LuaBridge", "MobileSync", "JSON", "Support"]),
    .executableTarget(
      name: "TureenCLI",
      dependencies: [
        "Tureen", "Inspector", "LuaBridge", "CRepl", "CApexScript", "RestClient", "Salesforce", "MobileSync", "SmartStore",
        .target(name: "SandboxOrg", condition: .when(traits: ["Sandbox"])),
        .target(name: "SandboxForge", condition: .when(traits: ["Sandbox"])),
        .target(name: "SandboxParse", condition: .when(traits: ["Sandbox"])), "Support", log,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      linkerSettings: selfContained + [fastLink, .linkedLibrary("lua5.4")]),
    // The line editor of `tureen repl` is libedit: history, keys and widths of characters are solved there. BSD licence;
    // readline's is not ours.
    .target(name: "CRepl", exclude: ["repl.lua", "values.lua"], linkerSettings: [.linkedLibrary("edit")]),
    // The Lua text behind `tureen sandbox --apex`.
    .target(name: "CApexScript", exclude: ["apex.lua"]),
    .target(
      name: "TestSupport",
      dependencies: [
        "Database", "PostgresStore", "SmartStore", "RestClient", "MobileSync", "Salesforce", "JSON", "Support", log,
      ]),
    .testTarget(name: "RecordScanTests", dependencies: ["RecordScan", "JSON", "TestSupport"]),
    .testTarget(name: "JSONTests", dependencies: ["JSON"]),
    .testTarget(name: "DatabaseTests", dependencies: ["Database", "TestSupport"]),
    .testTarget(
      name: "PostgresStoreTests", dependencies: ["PostgresStore", "SmartStore", "JSON", "Support", "TestSupport"]),
    .testTarget(name: "SmartStoreTests", dependencies: ["SmartStore", "Support", "TestSupport"]),
    .testTarget(
      name: "RestClientTests",
      dependencies: ["RestClient", "Salesforce", "COpenSSL", "JSON", "Support", "TestSupport", log],
      exclude: ["Programs"],
      // libcurl is to look up names with the function of the tests.
      linkerSettings: [.unsafeFlags(["-Xlinker", "--export-dynamic-symbol=getaddrinfo"], .when(platforms: [.linux]))]),
    // What the tests of the transport try in a process of its own.
    .executableTarget(
      name: "TransportTool", dependencies: ["RestClient", "Support"], path: "Tests/RestClientTests/Programs/TransportTool"),
    .testTarget(name: "MobileSyncTests", dependencies: ["MobileSync", "Salesforce", "SandboxOrg", "TestSupport"]),
    .testTarget(
      name: "RestCollectionsTests",
      dependencies: [
        "RestCollections", "MobileSync", "SmartStore", "RestClient", "RecordScan", "JSON", "Support", "TestSupport", log,
      ]),
    .testTarget(
      name: "ParseTests",
      dependencies: [
        "Parse", "SandboxParse", "Salesforce", "MobileSync", "SmartStore", "RestClient", "JSON", "Support", "TestSupport", log,
      ]),
    .testTarget(
      name: "LuaBridgeTests", dependencies: ["LuaBridge", "CLuaBridge", "CIsolation", "TestSupport"],
      exclude: ["Programs"],
      linkerSettings: [fastLink, .linkedLibrary("lua5.4")]),
    .testTarget(
      name: "SandboxOrgTests",
      dependencies: [
        "SandboxOrg", "RestClient", "Support", "TestSupport", sandbox("NIOCore", "swift-nio"),
      ]),
    .testTarget(name: "SandboxForgeTests", dependencies: ["SandboxForge", "JSON"]),
    .testTarget(name: "SandboxParseTests", dependencies: ["SandboxParse", "JSON"], exclude: ["Fixtures"]),
    .testTarget(
      name: "TureenTests",
      dependencies: [
        "Tureen", "JSON", "MobileSync", "Parse", "PostgresStore", "RecordScan", "RestClient", "RestCollections", "Salesforce",
        "SandboxOrg", "SandboxParse", "SmartStore", "Support", "TestSupport",
      ],
      linkerSettings: [fastLink, .linkedLibrary("lua5.4")]),
    .testTarget(
      name: "InspectorTests",
      dependencies: ["Inspector", "Tureen", "LuaBridge", "SmartStore", "JSON", "Support", "TestSupport"],
      linkerSettings: [fastLink, .linkedLibrary("lua5.4")]),
    // Damaged inputs for all that reads what others write; the corpora are in Tests/Fixtures/Fuzz.
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "Tureen", "LuaBridge", "CLuaBridge", "Database", "JSON", "MobileSync", "Parse", "RecordScan", "RestClient",
        "RestCollections", "Salesforce", "SandboxForge", "SandboxOrg", "SandboxParse", "SandboxServer", "SmartStore", "Support",
        "TestSupport",
      ],
      linkerSettings: [fastLink, .linkedLibrary("lua5.4")]),
    .testTarget(
      name: "EndToEnd",
      dependencies: [
        "TestSupport", "JSON", "MobileSync", "PostgresStore", "RestClient", "Salesforce", "SandboxOrg", "SmartStore",
      ],
      path: "Tests/EndToEnd", exclude: ["Programs"]),
    // The samples of the Swift guide and a tool with the library inside, which the tests run; the C programs beside it are
    // compiled by them.
    .executableTarget(
      name: "SwiftSamples", dependencies: ["Tureen", "LuaBridge", "Parse", "SmartStore", "JSON"],
      path: "Tests/EndToEnd/Programs/SwiftSamples", linkerSettings: [fastLink, .linkedLibrary("lua5.4")]),
    // What scripts/dev/bench measures of the engine without a bridge.
    .executableTarget(
      name: "EngineBench", dependencies: ["PostgresStore", "SmartStore", "JSON"], path: "scripts/dev/benchmarks/engine",
      linkerSettings: [fastLink]),
  ],
  swiftLanguageModes: [.v6]
)
