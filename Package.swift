// swift-tools-version: 6.1
import PackageDescription

let ahc: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")

// The shared library carries the Swift runtime with it, so that it loads where no Swift toolchain is installed.
let selfContained: [LinkerSetting] = [
  .unsafeFlags(["-static-stdlib"], .when(platforms: [.linux])),
  // What FoundationEssentials uses and does not ask the linker for.
  .linkedLibrary("_FoundationCollections"), .linkedLibrary("_FoundationCShims"),
]

let package = Package(
  name: "tureen",
  products: [
    .executable(name: "tureen", targets: ["TureenCLI"]),
    .library(name: "Tureen", targets: ["Tureen"]),
    // scripts/dev/library installs it as libtureen.so and tureen.so: a product cannot share the executable's name.
    .library(name: "TureenShared", type: .dynamic, targets: ["CTureenModule"]),
  ],
  dependencies: [
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .systemLibrary(name: "CLua"),
    .systemLibrary(name: "CSQLite"),
    .target(name: "RecordScan"),
    .target(name: "JSON", dependencies: ["RecordScan"]),
    .target(name: "Database", dependencies: ["CSQLite"]),
    .target(name: "SmartStore", dependencies: ["Database", "RecordScan", "JSON"]),
    .target(
      name: "RestClient",
      dependencies: [
        ahc, log, "JSON", .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
      ]),
    .target(name: "MobileSync", dependencies: ["SmartStore", "RestClient", "RecordScan", "JSON", log]),
    .target(name: "CLuaBridge", dependencies: ["CLua"]),
    .target(
      name: "LuaBridge",
      dependencies: ["CLua", "CLuaBridge", "JSON"],
      exclude: ["Lua"]),
    .target(
      name: "SandboxOrg",
      dependencies: [
        "Database", "JSON", log, .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .target(name: "Tureen", dependencies: ["LuaBridge", "MobileSync", "SmartStore", "RestClient", "JSON", log]),
    .target(name: "CTureenModule", dependencies: ["CLua", "CLuaBridge", "Tureen"], linkerSettings: selfContained),
    .executableTarget(
      name: "TureenCLI",
      dependencies: [
        "Tureen", "SandboxOrg", log, .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      linkerSettings: [.linkedLibrary("lua5.4")]),
    .target(name: "TestSupport", dependencies: ["SmartStore", "RestClient", "MobileSync", "JSON"]),
    .testTarget(name: "RecordScanTests", dependencies: ["RecordScan", "JSON"]),
    .testTarget(name: "JSONTests", dependencies: ["JSON"]),
    .testTarget(name: "DatabaseTests", dependencies: ["Database", "TestSupport"]),
    .testTarget(name: "SmartStoreTests", dependencies: ["SmartStore", "TestSupport"]),
    .testTarget(name: "RestClientTests", dependencies: ["RestClient", "JSON", "TestSupport", log]),
    .testTarget(name: "MobileSyncTests", dependencies: ["MobileSync", "SandboxOrg", "TestSupport"]),
    .testTarget(
      name: "LuaBridgeTests", dependencies: ["LuaBridge", "CLuaBridge", "TestSupport"],
      linkerSettings: [.linkedLibrary("lua5.4")]),
    .testTarget(
      name: "SandboxOrgTests",
      dependencies: ["SandboxOrg", "RestClient", "TestSupport", .product(name: "Crypto", package: "swift-crypto")]),
    .testTarget(
      name: "TureenTests", dependencies: ["Tureen", "SandboxOrg", "TestSupport"],
      linkerSettings: [.linkedLibrary("lua5.4")]),
    .testTarget(name: "EndToEnd", dependencies: ["TestSupport", "JSON"], path: "Tests/EndToEnd"),
  ],
  swiftLanguageModes: [.v6]
)
