import JSON
import Salesforce

/// What a sign-in has brought, to be kept in a home.
public struct RecordedLogin: Sendable {
  /// With user name, flow and client id where they are known.
  public var session: Session
  /// How the user signs in: the members of a credentials file. Names of secrets, never secrets.
  public var credentials: JSONObject
  /// The name that was asked for; nil takes the known org, else its host.
  public var orgName: String?
  /// Nil when the org was not asked.
  public var isSandbox: Bool?
  /// Makes the org the default. The first org becomes it anyway.
  public var makesDefault: Bool
  /// Keeps the folder of another org, or of another user of the same name, aside and starts an empty one.
  public var replacesOrg: Bool

  public init(
    session: Session, credentials: JSONObject = [:], orgName: String? = nil, isSandbox: Bool? = nil,
    makesDefault: Bool = false, replacesOrg: Bool = false
  ) {
    self.session = session
    self.credentials = credentials
    self.orgName = orgName
    self.isSandbox = isSandbox
    self.makesDefault = makesDefault
    self.replacesOrg = replacesOrg
  }

  /// Whom the folder is for. An app that signs in by itself keeps its client id: its stores open before the first sign-in.
  var user: String {
    if session.flow == "clientCredentials", let id = session.clientId { return id }
    return session.username ?? session.userId
  }
}
