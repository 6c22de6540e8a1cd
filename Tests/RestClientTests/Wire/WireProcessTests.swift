import Foundation
import Support
import TestSupport
import Testing

@testable import RestClient

/// What a transport does to the process that it is in.
@Suite(.timeLimit(.minutes(60))) struct WireProcessTests {
  private func server(_ identity: WireServer.Identity? = nil) throws -> WireServer {
    try WireServer(identity) { connection in while connection.request() != nil { connection.answer("\(connection.served)") } }
  }

  /// A look-up of a name takes as long as the resolver likes, and nothing can interrupt it.
  @Test func lookUp_thatHangs_holdsUpNothing() async throws {
    let server = try server(), names = NameLookup.shared
    let transport = HTTPTransport()
    let call = Task { await transport.failure(.POST, "https://blocked.test/", body: [1]) }
    await names.begun()
    let response = try await transport.get(server.url)
    #expect(response.body.text == "1")
    call.cancel()
    let error = await call.value
    #expect(error?.code == .cancelled && error?.outcome == .notSent)
    let late = await transport.failure(.GET, "https://blocked.test/", timeoutS: 0.05)
    #expect(late?.summary == "noResponse notSent: the response was not complete within the time limit")
    let last = Task { await transport.failure(.GET, "https://blocked.test/") }
    await transport.shutdown()
    #expect(await last.value?.code == .shutDown)
    names.release()
  }

  /// The program may use libcurl itself: load it, initialize it, and clean up.
  @Test func libcurl_ofTheProgram_isAnotherUse() async throws {
    let server = try server()
    guard let handle = dlopen("libcurl.so.4", RTLD_NOW) else { return }
    func function<F>(_ name: String, _ type: F.Type) -> F { unsafeBitCast(dlsym(handle, name), to: type) }
    let initialize = function("curl_global_init", (@convention(c) (Int) -> Int32).self)
    let cleanUp = function("curl_global_cleanup", (@convention(c) () -> Void).self)
    let make = function("curl_easy_init", (@convention(c) () -> OpaquePointer?).self)
    let perform = function("curl_easy_perform", (@convention(c) (OpaquePointer) -> Int32).self)
    let free = function("curl_easy_cleanup", (@convention(c) (OpaquePointer) -> Void).self)
    try await withTransport { transport in
      for _ in 0..<3 {
        #expect(initialize(3) == 0)
        _ = try await transport.get(server.url)
        let own = try #require(make())
        // It has no URL.
        #expect(perform(own) == 3)
        free(own)
        cleanUp()
        _ = try await transport.get(server.url)
      }
    }
    #expect(server.requests.count == 6 && server.connections == 1)
  }

  // MARK: Other processes

  private static func tool() throws -> String {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/TransportTool"
  }

  /// Files that are not libraries stand for a machine without libcurl.
  @Test func libcurl_missing_isOneSentenceAndNotRepeated() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tureen-curl-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["libcurl.so.4", "libcurl-gnutls.so.4"] { try Data().write(to: folder.appendingPathComponent(name)) }
    let ended = try await Machine.offPool {
      try ChildProcess.run(
        [Self.tool(), "get", "http://127.0.0.1:1/"],
        environment: ["LD_LIBRARY_PATH": folder.path, "PATH": "/usr/bin:/bin"])
    }
    #expect(
      ended.output
        == "rest.noResponse: requests need libcurl; install it (Debian and Ubuntu: apt install libcurl4): "
        + "\(folder.path)/libcurl.so.4: file too short\n")
    var error = RestError(code: .noResponse, message: "requests need libcurl", outcome: .notSent)
    error.isLocal = true
    #expect(!error.isRetryable)
    let decision = RetryPolicy.standard.decide(afterAttempt: 1, isRepeatable: true, error: error, now: 0, random: 0)
    #expect(decision == .stop)
  }

  private func run(_ mode: String, _ url: String, _ authorities: String) async throws -> ChildProcess.Ended {
    try await Machine.offPool { try ChildProcess.run([Self.tool(), mode, url, authorities]) }
  }

  private func file(_ authority: TestAuthority) throws -> String {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("tureen-ca-\(UUID().uuidString).pem")
    try Data(authority.pem.utf8).write(to: file)
    return file.path
  }

  /// Reading the authorities takes 28 ms of CPU. Transports after the first, each with authorities of its own, share them.
  @Test(.enabled(if: Machine.hasOpenSSL)) func authorities_ofTheSystem_areReadOnce() async throws {
    let authority = try TestAuthority(), authorities = try file(authority), server = try server(authority.identity())
    defer { try? FileManager.default.removeItem(atPath: authorities) }
    let reads = try await run("reads", server.url, authorities).output.split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    #expect(reads.count == 2 && server.connections == 11)
    if reads.count == 2 { #expect(reads[0] > 50_000 && reads[1] < 50_000, "\(reads)") }
  }

  @Test(arguments: [false, true]) func sockets_areNotInherited(isEncrypted: Bool) async throws {
    let authority = try TestAuthority(), authorities = try file(authority)
    defer { try? FileManager.default.removeItem(atPath: authorities) }
    let server = try server(isEncrypted ? authority.identity() : nil)
    #expect(try await run("sockets", server.url, authorities).output == "1 []\n")
  }

  @Test func signals_areLeftAlone() async throws {
    let breaking = try WireServer { connection in
      _ = connection.head()
      connection.reset()
    }
    #expect(try await run("signals", breaking.url, "/dev/null").output == "true\ntrue\n")
    #expect(breaking.connections == 1)
  }

  @Test(arguments: [false, true])
  func exit_withConnectionsOpen_isClean(isAnswering: Bool) async throws {
    let authority = try TestAuthority(), authorities = try file(authority)
    defer { try? FileManager.default.removeItem(atPath: authorities) }
    for _ in 0..<3 {
      let server = try WireServer(authority.identity()) { connection in
        while connection.request() != nil { isAnswering ? connection.answer() : connection.waitForEnd() }
      }
      let tool = try ChildProcess.start([Self.tool(), "exit", server.url, authorities], takesInput: true)
      await server.received(8)
      close(tool.input)
      let status = try await Machine.offPool { tool.wait() }
      close(tool.output)
      #expect(status == 0)
    }
  }

  /// The child has the connection, but no thread, and says nothing to the server.
  @Test func fork_leavesTheConnectionToTheParent() async throws {
    let authority = try TestAuthority(), authorities = try file(authority), server = try server(authority.identity())
    defer { try? FileManager.default.removeItem(atPath: authorities) }
    let ended = try await run("fork", server.url, authorities)
    #expect(ended.output == "1\nchild 7 0\n2\n" && ended.status == 0)
  }
}
