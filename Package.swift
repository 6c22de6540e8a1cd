// swift-tools-version: 6.1
import PackageDescription

let ahc: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
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
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // The sandbox's own certificates for --tls, and the public keys of its JWT clients: both are X.509. These two come with
    // hummingbird's dependencies anyway, as do swift-crypto's RSA and the HTTP parts of swift-nio-extras.
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    // Certificates to trust, and what a failed handshake means; async-http-client does its TLS with it.
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
  ],
  targets: [
    .systemLibrary(name: "CLua"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CSQLCipher"),
    .systemLibrary(name: "CZlib"),
    // PCRE2 is loaded at run time, for the regular expressions of queries: it has limits, and is what Parse's database uses.
    .target(name: "CPcre", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "Support", dependencies: ["CPcre"]),
    .target(name: "RecordScan"),
    .target(name: "JSON", dependencies: ["RecordScan", "Support"]),
    .target(
      name: "Database",
      dependencies: ["CSQLite", .target(name: "CSQLCipher", condition: .when(traits: ["Encryption"])), "Support"]),
    .target(name: "SmartStore", dependencies: ["Database", "RecordScan", "JSON", "Support"]),
    // libpq is loaded at run time: neither building nor a store in SQLite needs it.
    .target(name: "CPostgres", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "PostgresStore", dependencies: ["CPostgres", "SmartStore", "RecordScan", "JSON", "Support"]),
    .target(
      name: "RestClient",
      dependencies: [
        ahc, log, "Database", "JSON", "Support", .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]),
    .target(name: "MobileSync", dependencies: ["SmartStore", "RestClient", "RecordScan", "JSON", "Support", log]),
    .target(
      name: "Salesforce",
      dependencies: [
        "MobileSync", "SmartStore", "RestClient", "RecordScan", "JSON", "Support", log,
        // Signs the assertions of JWT apps.
        .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
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
        "CZlib", "JSON", "Support", log, sandbox("Hummingbird", "hummingbird"), sandbox("HummingbirdCore", "hummingbird"),
        sandbox("HummingbirdTLS", "hummingbird"), .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"), sandbox("NIOHTTPTypes", "swift-nio-extras"),
        sandbox("SwiftASN1", "swift-asn1"), sandbox("Crypto", "swift-crypto"), sandbox("X509", "swift-certificates"),
      ]),
    .target(
      name: "SandboxOrg",
      dependencies: [
        "SandboxServer", "Database", "JSON", "RecordScan", "Support", sandbox("SwiftASN1", "swift-asn1"),
        sandbox("Crypto", "swift-crypto"), sandbox("CryptoExtras", "swift-crypto"), sandbox("X509", "swift-certificates"),
      ]),
    .target(name: "SandboxForge", dependencies: ["SandboxServer", "CZlib", "JSON"]),
    .target(name: "SandboxParse", dependencies: ["SandboxServer", "JSON", "Support"]),
    .target(
      name: "Tureen",
      dependencies: [
        "LuaBridge", "Salesforce", "RestCollections", "Parse", "MobileSync", "PostgresStore", "SmartStore", "RestClient", "JSON",
        "RecordScan", "Support", "CChildProcess", log,
        // Listens for the browser of a sign-in.
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ]),
    .target(
      name: "CTureenModule", dependencies: ["CLua", "CLuaBridge", "Tureen"], exclude: ["tureen.map"],
      linkerSettings: selfContained + sharedLibrary + [fastLink]),
    .executableTarget(
      name: "TureenCLI",
      dependencies: [
        "Tureen", "LuaBridge", "CRepl", "CApexScript", "RestClient", "Salesforce", "SmartStore",
        .target(name: "SandboxOrg", condition: .when(traits: ["Sandbox"])),
        .target(name: "SandboxForge", condition: .when(traits: ["Sandbox"])),
        .target(name: "SandboxParse", condition: .when(traits: ["Sandbox"])), "Support", log,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      // Hummingbird formats dates with all of Foundation; the order is the linker's.
      linkerSettings: selfContained + [
        fastLink, .linkedLibrary("CoreFoundation", .when(platforms: [.linux])),
        .linkedLibrary("_FoundationICU", .when(platforms: [.linux])),
        .linkedLibrary("lua5.4"),
      ]),
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
      dependencies: [
        "RestClient", "Salesforce", "JSON", "Support", "TestSupport", log, .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ]),
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
        "SandboxOrg", "RestClient", "TestSupport", sandbox("Crypto", "swift-crypto"),
        sandbox("CryptoExtras", "swift-crypto"), .product(name: "NIOCore", package: "swift-nio"),
        sandbox("X509", "swift-certificates"),
      ]),
    .testTarget(name: "SandboxForgeTests", dependencies: ["SandboxForge", "JSON"]),
    .testTarget(name: "SandboxParseTests", dependencies: ["SandboxParse", "JSON"], exclude: ["Fixtures"]),
    .testTarget(
      name: "TureenTests",
      dependencies: [
        "Tureen", "JSON", "MobileSync", "Parse", "PostgresStore", "RecordScan", "RestClient", "RestCollections", "Salesforce",
        "SandboxOrg", "SandboxParse", "SmartStore", "Support", "TestSupport",
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
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
        sandbox("Crypto", "swift-crypto"), sandbox("X509", "swift-certificates"),
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
