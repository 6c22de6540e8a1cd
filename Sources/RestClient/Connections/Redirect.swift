/// Decides about an answer that sends a request elsewhere. A value: no network.
enum Redirect: Sendable, Equatable {
  /// It is no redirect, or one that the caller gets as it is.
  case none
  case follow(url: String, method: HTTPMethod, keepsBody: Bool, isPermanent: Bool)
  case refuse(String)

  static let mostHops = 5

  /// - Parameters:
  ///   - url: The request's own.
  ///   - visited: The URLs of this request so far, this one included.
  ///   - sameOrigin: Whether only the connection's origin and its `allowOrigins` may be asked.
  static func of(
    _ response: RestResponse, method: HTTPMethod, url: String, visited: [String], settings: ConnectionSettings, sameOrigin: Bool
  ) -> Redirect {
    guard [301, 302, 303, 307, 308].contains(response.status), let location = response.header("Location"), !location.isEmpty
    else { return .none }
    let target = URLReference(URLReference.repaired(location)).resolved(against: url).withoutFragment.text
    if let reason = refusal(of: target, from: WebAddress(url), settings, sameOrigin: sameOrigin) { return .refuse(reason) }
    guard !visited.contains(target) else { return .refuse("the redirects of '\(Redaction.url(url))' go in circles") }
    guard visited.count <= mostHops else { return .refuse("there are more than \(mostHops) redirects in a row") }
    let isRead = method == .GET || method == .HEAD, isPermanent = response.status == 301 || response.status == 308
    switch response.status {
    case 303: return .follow(url: target, method: isRead ? method : .GET, keepsBody: false, isPermanent: false)
    case 301, 302:
      guard isRead || settings.redirectWrites else {
        return .refuse(
          "the server answered \(response.status) to a \(method.rawValue) and sends it to '\(Redaction.url(target))'; "
            + "'redirectWrites' of the connection allows that")
      }
      return .follow(url: target, method: method, keepsBody: true, isPermanent: isPermanent)
    default: return .follow(url: target, method: method, keepsBody: true, isPermanent: isPermanent)
    }
  }

  /// Why a URL that a server names must not be asked; nil when it may be.
  /// - Parameter source: Of the answer that names it.
  static func refusal(of target: String, from source: WebAddress?, _ settings: ConnectionSettings, sameOrigin: Bool) -> String? {
    guard let address = WebAddress(target) else { return "'\(Redaction.url(target))' is not a valid http(s) URL" }
    if source?.isEncrypted == true, !address.isEncrypted {
      return "'\(Redaction.url(target))' leaves https for http"
    }
    guard address.isEncrypted || address.isLoopback else {
      return "http without encryption is for this machine only, not for '\(address.host)'"
    }
    guard address == settings.origin || !sameOrigin || settings.allowOrigins.contains(address) else {
      return "'\(Redaction.url(target))' is of another origin than connection '\(settings.name)' (\(settings.baseURL)); list "
        + "it in 'allowOrigins' if it may be asked, or set 'nextOrigin' to \"connection\" where a proxy stands before the server"
    }
    return nil
  }
}
