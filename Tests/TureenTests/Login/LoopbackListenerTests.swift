import Glibc
import Salesforce
import Synchronization
import TestSupport
import Testing

@testable import Tureen

/// Tests the listener of a sign-in over real sockets.
@Suite(.timeLimit(.minutes(60))) struct LoopbackListenerTests {
  private let heldPort = HeldPort()
  private var port: Int { heldPort.number }
  private var uri: String { "http://localhost:\(port)/OauthRedirect" }
  private var browser: TestBrowser { TestBrowser(port: port) }

  /// Returns the state parameter that the authorize endpoint gets.
  static func state(of request: AuthorizationRequest) -> String {
    let parameter = request.url.split(separator: "&").first { $0.hasPrefix("state=") }
    return parameter.map { String($0.dropFirst("state=".count)) } ?? ""
  }

  /// Runs a listener and streams the answers that it reports.
  private func listening(
    limits: LoopbackListener.Limits = LoopbackListener.Limits(),
    _ body: (LoopbackListener, _ target: String, inout AsyncStream<AuthorizationRequest.Answer>.Iterator) async throws -> Void
  ) async throws {
    let request = try AuthorizationRequest(loginURL: "https://acme.my.salesforce.com", clientId: "app", redirectURI: uri)
    let (answers, continuation) = AsyncStream<AuthorizationRequest.Answer>.makeStream()
    let listener = try await LoopbackListener.start(request, at: try #require(LoopbackRedirect(uri)), limits: limits) {
      continuation.yield($0)
    }
    var iterator = answers.makeAsyncIterator()
    do {
      try await body(listener, "/OauthRedirect?code=a&state=\(Self.state(of: request))", &iterator)
    } catch {
      await listener.close()
      throw error
    }
    await listener.close()
  }

  @Test func callback_wrongOnesThenTheRightOne_isReportedAndEndsAtThePage() async throws {
    try await listening { listener, target, answers in
      #expect(await browser.get("/OauthRedirect?code=a&state=other").status == 400)
      #expect(await browser.get("/favicon.ico").status == 404)
      #expect(await browser.get("/other").status == 404)
      #expect(await browser.send("POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na=b").status == 405)
      #expect(await browser.get(target, host: "evil.example").status == 400)
      #expect(await browser.get(target, host: nil).status == 400)
      async let held = browser.get(target)
      #expect(await answers.next() == .code("a"))
      let ended = Task { await listener.end(.done(user: "ann@acme.com", org: "acme")) }
      let redirect = await held
      #expect(redirect.status == 303 && redirect.header("Location") == "/done")
      let page = await browser.get("/done")
      #expect(page.status == 200 && page.text.contains("signed in as ann@acme.com to acme"))
      for (name, value) in [
        ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
        ("Connection", "close"), ("Content-Type", "text/html; charset=utf-8"),
      ] {
        #expect(page.header(name) == value)
      }
      for answer in [redirect, page] {
        #expect(answer.header("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
      }
      await ended.value
    }
  }

  @Test func callback_secondOne_is410WhileTheFirstIsHeld() async throws {
    try await listening { listener, target, answers in
      async let held = browser.get(target)
      #expect(await answers.next() == .code("a"))
      #expect(await browser.get(target).status == 410)
      let ended = Task { await listener.end(.failed("refused")) }
      let first = await held
      #expect(first.status == 303 && first.header("Location") == "/failed")
      #expect(await browser.get("/failed").status == 200)
      await ended.value
      #expect(await browser.get(target).status == 410)
    }
  }

  /// A second request on the held connection must not get the response of the first one.
  @Test func callback_pipelinedTwice_isAnsweredOnce() async throws {
    try await listening { listener, target, answers in
      let text = "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
      async let held = browser.send(text + text)
      #expect(await answers.next() == .code("a"))
      let ended = Task { await listener.end(.failed("refused")) }
      let answer = await held
      #expect(answer.status == 303 && !answer.text.contains("410"))
      _ = await browser.get("/failed")
      await ended.value
    }
  }

  @Test func held_tooLong_goesToThePageThatSaysToWait() async throws {
    var limits = LoopbackListener.Limits()
    limits.holdMs = 50
    try await listening(limits: limits) { listener, target, answers in
      let held = await browser.get(target)
      #expect(held.status == 303 && held.header("Location") == "/failed")
      #expect(await browser.get("/failed").text.contains("has not answered yet"))
      #expect(await answers.next() == .code("a"))
      // The browser has disconnected, so this returns at once.
      await listener.end(.done(user: "u", org: "o"))
      #expect(await browser.get("/done").status == 200)
    }
  }

  @Test func page_thatTheBrowserNeverAsksFor_isNotWaitedForLong() async throws {
    var limits = LoopbackListener.Limits()
    limits.pageMs = 50
    try await listening(limits: limits) { listener, target, answers in
      async let held = browser.get(target)
      #expect(await answers.next() == .code("a"))
      await listener.end(.done(user: "u", org: "o"))
      #expect(await held.status == 303)
    }
  }

  // MARK: Limits

  @Test func request_of16KB_isAnsweredAndALongerOneIsCutOff() async throws {
    try await listening { _, _, _ in
      func padded(_ bytes: Int) -> String {
        let head = "GET /x HTTP/1.1\r\nHost: localhost\r\nX: "
        return head + String(repeating: "x", count: bytes - head.utf8.count - 4) + "\r\n\r\n"
      }
      #expect(await browser.send(padded(16 * 1024)).status == 404)
      #expect(await browser.send(padded(16 * 1024 + 1)).status == 0)
      #expect(
        await browser.send("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n" + padded(20_000)).status == 0)
    }
  }

  @Test func request_thatIsNoHTTP_isRefused() async throws {
    try await listening { _, _, _ in
      #expect(await [0, 400].contains(browser.send("\u{16}\u{3}\u{1}hello\r\n\r\n").status))
      #expect(await [0, 400].contains(browser.send("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n").status))
    }
  }

  @Test func request_thatDoesNotEnd_isCutOff() async throws {
    var limits = LoopbackListener.Limits()
    limits.requestMs = 50
    try await listening(limits: limits) { _, _, _ in
      #expect(await browser.send("GET /OauthRedirect?").status == 0)
    }
  }

  /// Idle connections, which browsers open in advance, do not block the redirect.
  @Test func connections_thatSayNothing_keepNoAnswerOut() async throws {
    try await listening { listener, target, answers in
      let silent = (0..<20).compactMap { _ in browser.connected() }
      #expect(silent.count == 20)
      async let held = browser.get(target)
      #expect(await answers.next() == .code("a"))
      let more = (0..<20).compactMap { _ in browser.connected() }
      #expect(await browser.get("/favicon.ico").status == 404)
      let ended = Task { await listener.end(.done(user: "u", org: "o")) }
      #expect(await held.status == 303)
      #expect(await browser.get("/done").status == 200)
      await ended.value
      for socket in silent + more { close(socket) }
    }
  }

  // MARK: Ports

  @Test(arguments: [false, true])
  func port_takenOnEitherAddress_isToldAndNothingStaysOpen(isIPv6: Bool) async throws {
    guard TestBrowser.hasIPv6 || !isIPv6 else { return }
    let other = try #require(TestBrowser(port: port, isIPv6: isIPv6).bound())
    let error = await #expect(throws: HostError.self) { try await listening { _, _, _ in } }
    #expect(error?.code == .portInUse)
    let host = isIPv6 ? "::1" : "127.0.0.1"
    #expect(error?.message.hasPrefix("port \(port) of \(host) cannot be listened on: Address already in use; ") == true)
    #expect(browser.connected().map { close($0) } == (isIPv6 ? nil : 0))
    close(other)
    try await listening { _, _, _ in }
  }

  @Test func port_afterTheEnd_isFreeAtOnce() async throws {
    for _ in 0..<3 {
      try await listening { listener, target, answers in
        async let held = browser.get(target)
        #expect(await answers.next() == .code("a"))
        let ended = Task { await listener.end(.done(user: "u", org: "o")) }
        _ = await (held, browser.get("/done"))
        await ended.value
      }
      #expect(browser.connected() == nil)
    }
    let socket = try #require(browser.bound())
    close(socket)
  }

  @Test func addresses_ofTheMachine_areBothAnsweredAndNoOther() async throws {
    try await listening { _, _, _ in
      #expect(await browser.get("/x").status == 404)
      if TestBrowser.hasIPv6 { #expect(await TestBrowser(port: port, isIPv6: true).get("/x", host: "[::1]").status == 404) }
      // Other loopback addresses of the machine are not bound, so the port is free there.
      let socket = try #require(TestBrowser(port: port, host: 0x7F00_0002).bound())
      close(socket)
    }
  }
}
