/// Lists the headers, query parameters and JSON members that hold secrets. Logs, redirects and
/// settings all use this list.
package enum SecretNames {
  private static let headers: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "apikey", "x-auth-token",
    "x-csrf-token", "x-parse-session-token", "x-parse-revocable-session",
  ]

  private static let parameters: Set<String> = [
    "access_token", "token", "api_key", "key", "client_secret", "password", "sig", "refresh_token", "id_token", "assertion",
    "code", "code_verifier", "client_assertion", "sessiontoken", "_sessiontoken", "secret",
  ]

  private static let members: Set<String> = [
    "password", "token", "secret", "sessiontoken", "access_token", "refresh_token", "id_token", "client_secret", "accesstoken",
    "refreshtoken", "clientsecret", "api_key", "apikey", "authdata", "_password",
  ]

  package static func isSecret(header name: String) -> Bool {
    let name = name.lowercased()
    return headers.contains(name) || (name.hasPrefix("x-parse-") && name.hasSuffix("-key"))
  }

  /// - Parameter name: A decoded name from a query or a form.
  package static func isSecret(parameter name: String) -> Bool { parameters.contains(name.lowercased()) }

  package static func isSecret(member name: String) -> Bool { members.contains(name.lowercased()) }
}
