import Foundation
import Support
import TestSupport
import Testing

@testable import RestClient

/// What a transport does to the process that it is in.
@Suite(.timeLimit(.minutes(10))) struct WireProcessTests {
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

  @Test func sockets_areNotInherited() async throws {
    let authority = try TestAuthority(), servers = [try server(), try server(authority.identity())]
    try await withTransport({ $0.authorities = authority.trusted }) { transport in
      for server in servers { _ = try await transport.get(server.url) }
      // A socket of another test may be between its creation and its mark.
      var inherited = Machine.inheritedSockets()
      for _ in 0..<50 where !inherited.isEmpty {
        try await Task.sleep(nanoseconds: 1_000_000)
        inherited = inherited.filter(Machine.inheritedSockets().contains)
      }
      #expect(inherited.isEmpty, "\(inherited), servers on \(servers.map(\.port))")
    }
  }

  @Test func signals_areLeftAlone() async throws {
    /// The signals that are ignored and those that have a handler.
    func handlers() throws -> [Substring] {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      return status.split(separator: "\n").filter { $0.hasPrefix("SigIgn") || $0.hasPrefix("SigCgt") }
    }
    func mask() -> sigset_t {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      return mask
    }
    let before = try handlers()
    let maskBefore = mask()
    // A connection that breaks while a body is being written is a SIGPIPE for those who do not prevent it.
    let breaking = try WireServer { connection in
      _ = connection.head()
      connection.reset()
    }
    let transport = HTTPTransport(), answering = try server()
    _ = await transport.failure(.POST, breaking.url, body: [UInt8](repeating: 1, count: 30_000_000))
    _ = try await transport.get(answering.url)
    #expect(try handlers() == before)
    await transport.shutdown()
    #expect(try handlers() == before)
    #expect(withUnsafeBytes(of: maskBefore) { a in withUnsafeBytes(of: mask()) { $0.elementsEqual(a) } })
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
    let costs = try await run("cpu", server.url, authorities).output.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
    #expect(costs.count == 2 && server.connections == 11)
    if costs.count == 2 {
      #expect(costs[1] < max(6, costs[0] / 3), "the first took \(costs[0]) ms of CPU, a later one \(costs[1])")
    }
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
