import Foundation
import Testing

/// `scripts/dev/install`: what lands where, twice, below DESTDIR, and goes again.
@Suite(.enabled(if: !Built.isSanitized, "a sanitized library loads in no foreign program"))
struct InstallTests {
  private static let files: Set = [
    "bin/tureen", "lib/libtureen.so", "lib/lua/5.4/tureen.so", "lib/pkgconfig/tureen.pc", "include/tureen.h",
    "lib/cmake/tureen/tureen-config.cmake", "lib/cmake/tureen/tureen-config-version.cmake",
    "share/tureen/library/tureen.lua", "share/tureen/library/force.lua", "share/tureen/library/tureen/sandbox.lua",
    "share/tureen/installed",
  ]

  private func files(below root: String) throws -> Set<String> {
    let names = try FileManager.default.subpathsOfDirectory(atPath: root)
    return Set(
      names.filter {
        (try? FileManager.default.attributesOfItem(atPath: root + "/" + $0)[.type]) as? FileAttributeType != .typeDirectory
      })
  }

  @Test func install_twiceBelowDestdir_putsTheSameFilesAndUninstallTakesThemAway() async throws {
    let place = try Workplace()
    let options = ["--prefix", "/usr"], root = place.path + "/usr"
    for _ in 1...2 { try await Installed.install(place, options, environment: ["DESTDIR": place.path]) }
    try #"left alone"#.write(toFile: root + "/lib/other.so", atomically: true, encoding: .utf8)
    #expect(try files(below: root).isSuperset(of: Self.files))
    let extra = try files(below: root).subtracting(Self.files)
    #expect(extra.allSatisfy { $0 == "lib/other.so" || $0.hasPrefix("share/tureen/library/") }, "\(extra)")
    try await Installed.install(place, options + ["--uninstall"], environment: ["DESTDIR": place.path])
    #expect(try files(below: root) == ["lib/other.so"])
  }

  @Test func install_wholePrefix_worksFromThere() async throws {
    let installed = try await Installed.shared()
    let place = try Workplace()
    let version = try await place.run(installed.path + "/bin/tureen", ["version"])
    let package = try await place.run(
      "/bin/sh", ["-c", "pkg-config --modversion tureen"],
      environment: ["PKG_CONFIG_PATH": installed.path + "/lib/pkgconfig"])
    let number = package.output.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(!number.isEmpty && version.output.hasPrefix("tureen \(number) "), "\(version.output) \(package.output)")
    let lua = try await place.run(
      Built.lua, ["-e", "require 'tureen'"], environment: ["LUA_CPATH": installed.path + "/lib/lua/5.4/?.so"])
    #expect(lua.status == 0, "\(lua.errors)")
  }

  @Test(arguments: [[], ["--prefix"], ["--prefix", "/tmp/x", "--colour"]])
  func install_wrongUsage_isRefused(options: [String]) async throws {
    let ended = try await Workplace().run(Built.package.path + "/scripts/dev/install", options)
    #expect(ended.status != 0 && !ended.errors.isEmpty)
  }
}
