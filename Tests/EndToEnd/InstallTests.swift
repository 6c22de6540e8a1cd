import Foundation
import Testing

/// Tests `scripts/dev/install`: the installed files, a second run, DESTDIR, and removal.
@Suite(.enabled(if: !Built.isSanitized, "a sanitized library loads in no foreign program"))
struct InstallTests {
  private static let files: Set = [
    "bin/tureen", "libexec/tureen/tureen-worker", "lib/libtureen.so.0", "lib/libtureen.so", "share/man/man1/tureen.1",
    "share/man/man1/tureen-run.1",
    "share/bash-completion/completions/tureen", "share/zsh/site-functions/_tureen",
    "share/fish/vendor_completions.d/tureen.fish", "lib/lua/5.4/tureen.so", "lib/pkgconfig/tureen.pc", "include/tureen.h",
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
    let expected = ["lib/other.so", "share/tureen/library/", "share/man/man1/tureen-"]
    #expect(extra.allSatisfy { file in expected.contains { file.hasPrefix($0) } }, "\(extra)")
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
