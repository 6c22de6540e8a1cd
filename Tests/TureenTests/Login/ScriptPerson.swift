import Glibc
import JSON
import SandboxOrg
import Support
import TestSupport

@testable import Tureen

/// A person with a browser for scripts that start sign-ins: the service `person`, and Lua code that uses it.
struct ScriptPerson: Sendable {
  let server: SandboxServer
  let port: HeldPort
  /// The redirect URI to which the host listens.
  var redirect: String { ScriptPerson.redirect(port) }

  static func redirect(_ port: HeldPort) -> String { "http://localhost:\(port.number)/OauthRedirect" }

  /// Implements the service: `signIn` returns the redirect URL; `follow` requests it and returns the statuses and the final page;
  /// `signInAndFollow` does both; `port` returns `open` or `free`.
  @Sendable func service(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    let url = arguments["url"]?.stringValue ?? ""
    return try Blocking.run {
      switch action {
      case "signIn": .string(try await SandboxPerson(of: server).signIn(at: url))
      case "follow": await follow(url)
      case "signInAndFollow": await follow(try await SandboxPerson(of: server).signIn(at: url))
      default: .string(isOpen ? "open" : "free")
      }
    }
  }

  private func follow(_ url: String) async -> JSONValue {
    let browser = TestBrowser(port: port.number)
    let first = await browser.get("/" + (url.split(separator: "/", maxSplits: 2).last ?? ""))
    let page = await browser.get(first.header("Location") ?? "/none")
    return [.integer(Int64(first.status)), .integer(Int64(page.status)), .string(page.text)]
  }

  var isOpen: Bool {
    guard let socket = TestBrowser(port: port.number).connected() else { return false }
    close(socket)
    return true
  }

  /// Lua locals for the body of a task.
  var lua: String {
    let access = server.credentials()
    return """
      local accounts, await = tureen.accounts, tureen.await
      local URI = "\(redirect)"
      local function options(more)
        local all = { org = "prod", loginUrl = "\(access.loginURL)", clientId = "\(access.clientId)" }
        for key, value in pairs(more or {}) do all[key] = value end
        return all
      end
      local function person(action, url)
        return assert(await(function(success, failure) tureen.exec(success, failure, "person", action, { url = url }) end))
      end
      local function code(err) return err.domain .. "/" .. err.code end
      """
  }
}
