import JSON
import RestClient

/// A session that another program owns: it signs in and renews, we ask it.
public struct ExternalToken: Sendable, Equatable {
  /// For messages, such as `the sf CLI's org 'prod'`. Two sources of one name are one.
  public let name: String
  /// Gets the session in use, or another one when the token in `refused` was refused. May take a minute.
  public let ask: @Sendable (_ refused: String?) async throws -> Session

  public init(name: String, ask: @escaping @Sendable (_ refused: String?) async throws -> Session) {
    self.name = name
    self.ask = ask
  }

  public static func == (a: ExternalToken, b: ExternalToken) -> Bool { a.name == b.name }

  /// - Throws: ``RestError`` `.sessionExpired` when the source has nothing but the token that was refused; what the source says
  ///   otherwise, as `.notAuthenticated` unless it is a ``RestError`` already.
  func session(refused: String?) async throws(RestError) -> Session {
    let session: Session
    do {
      session = try await ask(refused)
    } catch let error as RestError {
      throw error
    } catch {
      throw RestError(code: .notAuthenticated, message: "\(name): \(error)", outcome: .notSent)
    }
    guard session.accessToken != refused else {
      throw RestError(
        code: .sessionExpired, message: "\(name) gave the same access token that the org has refused: sign in anew there",
        outcome: .notSent)
    }
    return session
  }
}

extension Session {
  /// A session of a token that another program got.
  ///
  /// - Parameter identityURL: The `id` of the token's answer, where it is known: it names user and org. The token itself names
  ///   the org before its exclamation mark.
  public init(givenToken: String, instanceURL: String, identityURL: String? = nil) {
    let instance = WebAddress.withoutTrailingSlashes(instanceURL)
    self.init(accessToken: givenToken, instanceURL: instance, loginURL: instance, identityURL: identityURL ?? "")
    let path = (identityURL ?? "").split(separator: "/")
    if path.count >= 2 {
      (orgId, userId) = (String(path[path.count - 2]), String(path[path.count - 1]))
    } else {
      orgId = OrgId.ofToken(givenToken) ?? ""
    }
    flow = "token"
  }
}

/// Ids of orgs, whose 15 characters tell letter cases apart; the three behind them say which are capitals.
enum OrgId {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)

  /// The org that an access token names, with 18 characters; nil for tokens of another form.
  static func ofToken(_ token: String) -> String? {
    guard token.hasPrefix("00D"), let mark = token.firstIndex(of: "!") else { return nil }
    return complete(token[..<mark])
  }

  /// The form with 18 characters; nil for anything but an id.
  static func complete(_ id: some StringProtocol) -> String? {
    let bytes = Array(id.utf8)
    guard bytes.count == 15 || bytes.count == 18, bytes.allSatisfy({ isLetterOrDigit($0) }) else { return nil }
    let suffix = stride(from: 0, to: 15, by: 5).map { start in
      let capitals = (0..<5).reduce(0) { isCapital(bytes[start + $1]) ? $0 | 1 << $1 : $0 }
      return digits[capitals]
    }
    return String(decoding: bytes.prefix(15) + suffix, as: UTF8.self)
  }

  private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isCapital(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
