import Foundation
import TestSupport
import Testing

/// Kills a process at each of its writes while it migrates a store of an earlier release. The store then opens, with everything
/// that was in it.
@Suite(.enabled(if: !Built.isSanitized, "the sanitizer's runtime would have to be loaded first")) struct MigrationKillTests {
  /// Kills the process before its write number `KILL_AT`, or after half of that write. Prints the number of writes at the end.
  private static let killer = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    static long count, at;
    static int isHalf;
    __attribute__((constructor)) static void begin(void) {
      const char *text = getenv("KILL_AT"), *half = getenv("KILL_HALF");
      at = text ? atol(text) : 0;
      isHalf = half != 0;
    }
    __attribute__((destructor)) static void end(void) { fprintf(stderr, "writes %ld\\n", count); }
    static int isNow(void) { return __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) == at; }
    static void die(void) { kill(getpid(), SIGKILL); }
    static ssize_t put(const char *name, int file, const void *bytes, size_t length, off_t offset) {
      ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, name);
      if (isNow()) {
        if (isHalf) real(file, bytes, length / 2, offset);
        die();
      }
      return real(file, bytes, length, offset);
    }
    ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
      return put("pwrite", file, bytes, length, offset);
    }
    ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
      return put("pwrite64", file, bytes, length, offset);
    }
    #define ONE(name, type, value) \\
      int name(type one) { if (isNow()) die(); return ((int (*)(type))dlsym(RTLD_NEXT, #name))(one); }
    ONE(fsync, int, file)
    ONE(fdatasync, int, file)
    ONE(unlink, const char *, path)
    """

  private static let script = """
    local tureen = require "tureen"
    tureen.async(function()
      local config = { isGlobalStore = true, storeName = "kept" }
      local rows = assert(tureen.await(tureen.smartstore.runSmartQuery, config,
        tureen.smartstore.buildSmartQuerySpec("SELECT {contacts:Id}, {contacts:n}, {contacts:Owner.Name} FROM {contacts} ORDER BY 1", 10)))
      print(tureen.json.encode(rows.currentPageOrderedEntries))
    end)
    tureen.run()
    """

  @Test(arguments: ["store-1.sqlite", "store-4.sqlite", "store-5.sqlite"])
  func migration_killedAtEveryWrite_leavesAStoreThatOpens(file: String) async throws {
    let place = try Workplace()
    try place.write(Self.killer, to: "killer.c")
    let made = try await place.run("/usr/bin/cc", ["-shared", "-fPIC", "-o", "killer.so", "killer.c"])
    #expect(made.status == 0, "\(made)")
    let script = try place.write(Self.script, to: "read.lua")
    let store = try await emptyStore(place), fixture = Built.package.path + "/Tests/Fixtures/" + file
    func migrate(_ environment: [String: String]) async throws -> Child.Ended {
      try await place.run(Built.tureen, ["run", "--home", place.home, script], environment: environment)
    }
    func restore() throws {
      for name in try FileManager.default.contentsOfDirectory(atPath: store.folder) where name.hasPrefix(store.name) {
        try FileManager.default.removeItem(atPath: "\(store.folder)/\(name)")
      }
      try FileManager.default.copyItem(atPath: fixture, toPath: "\(store.folder)/\(store.name)")
    }

    try restore()
    let whole = try await migrate(["LD_PRELOAD": place.path + "/killer.so"])
    let count = try #require(whole.errors.firstMatch(of: #/writes (\d+)/#).flatMap { Int($0.1) }, "\(whole)")
    #expect(whole.status == 0 && whole.output.contains("Göktuğ") && count > 10, "\(whole)")
    for at in 1...count {
      for half in [[:], ["KILL_HALF": "1"]] {
        try restore()
        let killed = try await migrate(["LD_PRELOAD": place.path + "/killer.so", "KILL_AT": "\(at)"].merging(half) { $1 })
        // Writes of other files may be fewer once they exist.
        guard killed.status == 128 + SIGKILL else { continue }
        let after = try await migrate([:])
        #expect(after.status == 0 && after.output == whole.output, "\(file), write \(at) \(half): \(after)")
      }
    }
  }

  /// Makes an empty store, and returns where its file is.
  private func emptyStore(_ place: Workplace) async throws -> (folder: String, name: String) {
    let made = try await place.run(
      Built.tureen,
      [
        "exec", "--home", place.home, "smartstore", "registerSoup",
        #"{"isGlobalStore":true,"storeName":"kept","soupName":"x","indexes":[{"path":"a","type":"string"}]}"#,
      ])
    let files = FileManager.default.enumerator(atPath: place.home)?.compactMap { $0 as? String } ?? []
    let file = try #require(files.first { $0.hasSuffix(".sqlite") }, "\(made)")
    let url = URL(fileURLWithPath: "\(place.home)/\(file)")
    return (url.deletingLastPathComponent().path, url.lastPathComponent)
  }
}
