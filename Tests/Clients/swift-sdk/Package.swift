// swift-tools-version:6.0
import Foundation
import PackageDescription

/// Drives the Parse server of `tureen sandbox` with ParseSwift. `run` beside this file fetches the package and says where it is.
let package = Package(
  name: "ParseSwiftClient",
  dependencies: [.package(path: ProcessInfo.processInfo.environment["PARSE_SWIFT"] ?? "parse-swift")],
  targets: [
    .executableTarget(name: "ParseSwiftClient", dependencies: [.product(name: "ParseSwift", package: "parse-swift")])
  ]
)
