/// Decides whether to follow a redirect. A pure value: it uses no network.
enum Redirect: Sendable, Equatable {
  /// Not a redirect, or one that is passed on to the caller.
  case none
  case follow(url: String, method: HTTPMethod, keepsBody: Bool, isPermanent: Bool)
  case refuse(String)

  static let mostHops = 5

  /// Returns the decision for a response.
  ///
  /// - Parameters:
  ///   - url: The request's URL.
  ///   - visited: The URLs of this request so far, including the current one.
  ///   - sameOrigin: Allow only the connection's origin and its `allowOrigins`.
  static func of(
    _ response: RestResponse, method: HTTPMethod, url: String, visited: [String], settings: ConnectionSettings, sameOrigin: Bool
  ) -> Redirect {
    guard [301, 302, 303, 307, 308].contains(response.status), let location = response.header("Location"), !location.isEmpty
    else { return .none }
    let target = URLReference(URLReference.repaired(location)).resolved(against: url).withoutFragment.text
    if let reason = refusal(of: target, from: WebAddress(url), settings, sameOrigin: sameOrigin) { return .refuse(reason) }
    guard !visited.contains(target) else { return .refuse("the redirects of '\(Redaction.url(url))' form a loop") }
    guard visited.count <= mostHops else { return .refuse("there are more than \(mostHops) redirects in a row") }
    let isRead = method == .GET || method == .HEAD, isPermanent = response.status == 301 || response.status == 308
    switch response.status {
    case 303: return .follow(url: target, method: isRead ? method : .GET, keepsBody: false, isPermanent: false)
    case 301, 302:
      guard isRead || settings.redirectWrites else {
        return .refuse(
          "the server answered \(response.status) to a \(method.rawValue) and redirects it to '\(Redaction.url(target))'; "
            + "set 'redirectWrites' of the connection to allow that")
      }
      return .follow(url: target, method: method, keepsBody: true, isPermanent: isPermanent)
    default: return .follow(url: target, method: method, keepsBody: true, isPermanent: isPermanent)
    }
  }

  /// Returns why a URL named by a server must not be requested; nil if it may be.
  ///
  /// - Parameter source: The address of the response that names the URL.
  static func refusal(of target: String, from source: WebAddress?, _ settings: ConnectionSettings, sameOrigin: Bool) -> String? {
    guard let address = WebAddress(target) else { return "'\(Redaction.url(target))' is not a valid http(s) URL" }
    if source?.isEncrypted == true, !address.isEncrypted {
      return "'\(Redaction.url(target))' switches from https to http"
    }
    guard address.isEncrypted || address.isLoopback else {
      return "unencrypted http is allowed only on this machine, not for '\(address.host)'"
    }
    guard address == settings.origin || !sameOrigin || settings.allowOrigins.contains(address) else {
      return "'\(Redaction.url(target))' has another origin than connection '\(settings.name)' (\(settings.baseURL)); list "
        + "it in 'allowOrigins' if requests to it are allowed, or set 'nextOrigin' to \"connection\" if a proxy is in front "
        + "of the server"
    }
    return nil
  }
}
