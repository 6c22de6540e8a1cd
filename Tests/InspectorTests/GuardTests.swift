import JSON
import Testing

@testable import Inspector

/// What is refused, over real sockets.
@Suite(.ownThreads, .timeLimit(.minutes(60))) struct GuardTests {
  private static let every: [(String, String)] = [
    ("GET", "/"), ("GET", "/app.css"), ("GET", "/js/main.js"), ("GET", "/nowhere"), ("GET", "/api/v1/overview"),
    ("GET", "/api/v1/events"), ("POST", InspectedHome.store + "/query"), ("POST", InspectedHome.store + "/discard"),
    ("OPTIONS", "/api/v1/overview"), ("HEAD", "/"),
  ]

  @Test func row47_wrongHost_is421OnEveryRequest() async throws {
    let home = try InspectedHome(), port = home.client.port
    let wrong: [String?] = [
      nil, "", "127.0.0.1", "localhost", "127.0.0.1:\(port == 1 ? 2 : 1)", "evil.example", "evil.example:\(port)",
      "localhost.evil.example:\(port)", "127.0.0.2:\(port)", "0.0.0.0:\(port)", "[::]:\(port)", "user@127.0.0.1:\(port)",
      "127.0.0.1:\(port) ,evil", "127.0.0.1.:\(port)",
    ]
    for (method, target) in Self.every {
      for host in wrong {
        #expect(
          await home.client.send(home.request(method, target, ["Host": host])).status == 421, "\(method) \(target) \(host ?? "-")"
        )
      }
    }
    let twice = home.request("GET", "/", [:]).replacing("Host:", with: "Host: 127.0.0.1:\(port)\r\nHost:")
    #expect(await home.client.send(twice).status == 421)
    for host in ["127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST:\(port)", "[::1]:\(port)"] {
      #expect(await home.get("/api/v1/overview", ["Host": host]).status == 200, "\(host)")
    }
    await home.stop()
  }

  @Test func row47_wrongOriginOrSite_is403OnEveryRequest() async throws {
    let home = try InspectedHome(), port = home.client.port
    let origins = [
      "null", "http://evil.example", "https://127.0.0.1:\(port)", "http://127.0.0.1", "http://127.0.0.1:\(port).evil.example",
      "http://127.0.0.1:\(port)/", "", "file://",
    ]
    for (method, target) in Self.every {
      for origin in origins {
        let status = await home.client.send(home.request(method, target, ["Origin": origin])).status
        #expect(status == 403, "\(method) \(target) \(origin)")
      }
      for site in ["cross-site", "same-site", "", "none, same-origin"] {
        let status = await home.client.send(home.request(method, target, ["Sec-Fetch-Site": site])).status
        #expect(status == 403, "\(method) \(target) \(site)")
      }
    }
    for site in [nil, "none", "same-origin"] as [String?] {
      #expect(await home.get("/api/v1/overview", ["Sec-Fetch-Site": site]).status == 200)
    }
    await home.stop()
  }

  /// A link may lead to the page, which holds no data; nothing else may come from elsewhere.
  @Test func site_visitFromElsewhere_getsThePageAlone() async throws {
    let home = try InspectedHome()
    let visit: [String: String?] = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"]
    #expect(await home.get("/", visit.merging(["Authorization": nil]) { $1 }).status == 200)
    for target in ["/js/main.js", "/api/v1/overview"] { #expect(await home.get(target, visit).status == 403) }
    #expect(await home.get("/", visit.merging(["Sec-Fetch-Dest": "iframe"]) { $1 }).status == 403)
    #expect(await home.client.send(home.request("POST", "/", body: "{}", visit)).status == 403)
    await home.stop()
  }

  @Test func row47_wrongToken_is401AndSoon429() async throws {
    let home = try InspectedHome()
    let wrong: [String?] = [
      nil, "", "Bearer", "Bearer ", "Bearer x", "Bearer \(home.token)x", "bearer \(home.token)", "Basic \(home.token)",
      "Bearer \(home.token.dropLast())", home.token,
    ]
    for value in wrong {
      let answer = await home.get("/api/v1/overview", ["Authorization": value])
      #expect(answer.status == 401 && answer.headers["www-authenticate"] == "Bearer", "\(value ?? "-")")
    }
    for _ in wrong.count..<Limits.wrongTokens {
      #expect(await home.post(InspectedHome.store + "/query", [:], ["Authorization": nil]).status == 401)
    }
    #expect(await home.get("/api/v1/overview", ["Authorization": nil]).status == 429)
    // Wrong tokens of others do not lock out the right one.
    #expect(await home.get("/api/v1/overview").status == 200)
    // An address cannot bring the token, so that it ends in no log.
    #expect(await home.get("/api/v1/overview?t=\(home.token)", ["Authorization": nil]).status == 429)
    await home.stop()
  }

  @Test func token_hasA256BitValueOfItsOwn() throws {
    let tokens = (0..<50).map { _ in TokenCheck().token }
    #expect(Set(tokens).count == 50 && tokens.allSatisfy { $0.utf8.count == 43 })
  }

  @Test func row47_writingRoutes_are404WithoutWrite() async throws {
    let home = try InspectedHome()
    let routes = ["/conflicts/contacts/1/resolve", "/discard", "/syncs/1/run", "/syncs/1/stop", "/plan", "/apply", "/verify"]
    for route in routes {
      for method in ["POST", "GET", "PUT", "DELETE", "PATCH"] {
        let answer = await home.client.send(home.request(method, InspectedHome.store + route, body: "{}"))
        #expect(answer.status == 404, "\(method) \(route)")
      }
    }
    await home.stop()
  }

  @Test func method_ofAnotherKind_is405() async throws {
    let home = try InspectedHome(writes: true)
    for (method, target) in [
      ("POST", "/api/v1/overview"), ("HEAD", "/api/v1/overview"), ("OPTIONS", "/api/v1/overview"), ("DELETE", "/api/v1/events"),
      ("GET", InspectedHome.store + "/query"), ("GET", InspectedHome.store + "/discard"),
      ("PUT", InspectedHome.store + "/discard"),
      ("POST", "/"), ("DELETE", "/app.css"),
    ] {
      let answer = await home.client.send(home.request(method, target, body: method == "HEAD" ? nil : "{}"))
      #expect(answer.status == 405 && answer.headers["allow"] != nil, "\(method) \(target)")
    }
    await home.stop()
  }

  @Test func row47_everyAnswer_hasTheHeaders() async throws {
    let home = try InspectedHome()
    var answers = [
      await home.get("/api/v1/overview"), await home.get("/api/v1/overview", ["Authorization": nil]),
      await home.get("/", ["Host": "evil.example"]), await home.get("/", ["Origin": "http://evil.example"]),
      await home.get("/nowhere"),
      await home.client.send(home.request("POST", "/", body: "{}")), await home.query("DELETE FROM {contacts}"),
    ]
    for path in Assets().paths { answers.append(await home.get(path, ["Authorization": nil])) }
    let policy =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
      + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    for answer in answers {
      #expect(answer.headers["content-security-policy"] == policy)
      #expect(answer.headers["x-content-type-options"] == "nosniff" && answer.headers["referrer-policy"] == "no-referrer")
      #expect(answer.headers["cross-origin-opener-policy"] == "same-origin" && answer.headers["cache-control"] == "no-store")
      #expect(answer.headers["cross-origin-resource-policy"] == "same-origin" && answer.headers["set-cookie"] == nil)
      #expect(answer.headers.keys.allSatisfy { !$0.hasPrefix("access-control") })
    }
    await home.stop()
  }

  @Test func body_ofAnotherType_is415() async throws {
    let home = try InspectedHome(writes: true)
    for type in [nil, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8"] as [String?] {
      for route in ["/query", "/discard", "/syncs/1/run"] {
        let answer = await home.client.send(home.request("POST", InspectedHome.store + route, body: "{}", ["Content-Type": type]))
        #expect(answer.status == 415, "\(route) \(type ?? "-")")
      }
    }
    #expect(await home.client.send(home.request("POST", InspectedHome.store + "/query", body: "[1]")).status == 400)
    #expect(await home.client.send(home.request("POST", InspectedHome.store + "/query", body: "{")).status == 400)
    await home.stop()
  }
}
