import JSON
import RestClient
import Testing

@testable import Salesforce

/// What a renewal decides, and what is kept of a session.
@Suite struct RenewalStepTests {
  private let old = Session(accessToken: "old", instanceURL: "https://i", loginURL: "https://l")
  private let new = Session(accessToken: "new", instanceURL: "https://j", loginURL: "https://l")

  private func refusal(until: Double? = 160) -> StoredSession.Refusal {
    .init(reason: "ipRestricted", message: "m", until: until, count: 1, key: "s:k")
  }

  private func step(
    _ cause: RenewalCause, _ kept: StoredSession, replacing token: String? = "old", isSame: Bool = true, now: Double = 100
  ) -> RenewalStep {
    RenewalStep(cause, kept: kept, replacing: token, isOfSameCredentials: isSame, now: now)
  }

  @Test func step_anotherTokenIsKept_isUsed() {
    for cause in [RenewalCause.unreachable, .needed, .asked] {
      #expect(step(cause, StoredSession(session: new)) == .use(new))
    }
    #expect(step(.needed, StoredSession(session: new), replacing: nil) == .use(new))
    #expect(step(.needed, StoredSession(session: new, refusal: refusal())) == .use(new))
    // A person who signs in is not put off by what another process has.
    #expect(step(.asked, StoredSession(session: new, refusal: refusal())) == .ask)
  }

  @Test func step_refusalIsKept_holdsForItsCredentialsAndItsTime() {
    let kept = StoredSession(session: old, refusal: refusal())
    #expect(step(.needed, kept) == .fail(refusal()))
    #expect(step(.needed, kept, isSame: false) == .ask)
    #expect(step(.needed, kept, now: 159.9) == .fail(refusal()))
    #expect(step(.needed, kept, now: 160) == .ask)
    #expect(step(.asked, kept) == .ask)
    #expect(step(.unreachable, kept) == .leave)
    let final = StoredSession(session: old, refusal: refusal(until: nil))
    #expect(step(.needed, final, now: 1e12) == .fail(refusal(until: nil)))
  }

  @Test func step_clockWasSetBack_isAsked() {
    #expect(step(.needed, StoredSession(session: old, refusal: refusal(until: 100 + 3601))) == .ask)
    var kept = StoredSession(session: old)
    kept.unreachableAt = 500
    #expect(step(.unreachable, kept) == .ask)
  }

  @Test func step_instanceUnreachable_isAskedEveryFiveMinutes() {
    var kept = StoredSession(session: old)
    #expect(step(.unreachable, kept) == .ask)
    kept.unreachableAt = 100
    #expect(step(.unreachable, kept, now: 399) == .leave)
    #expect(step(.unreachable, kept, now: 400) == .ask)
    #expect(step(.needed, kept) == .ask)
  }

  @Test func refusal_inARow_waitsLonger() {
    var known: StoredSession.Refusal?
    let error = RestError(code: .notAuthenticated, message: "m")
    for (count, minutes) in [(1, 1.0), (2, 5), (3, 15), (4, 60), (5, 60)] {
      known = .init(error, .ipRestricted, after: known, isOfSameCredentials: true, key: "k", now: 0)
      #expect(known?.count == count && known?.until == minutes * 60)
    }
    known = .init(error, .ipRestricted, after: known, isOfSameCredentials: false, key: "k", now: 0)
    #expect(known?.count == 1 && known?.until == 60)
    #expect(StoredSession.Refusal(error, .sessionEnded, after: nil, isOfSameCredentials: true, key: "k", now: 0).until == nil)
  }

  @Test func refusalKey_tellsCredentialsApartAndIsSalted() throws {
    func password(_ password: String, _ url: String = "https://l") -> Credentials {
      .password(loginURL: url, clientId: "c", clientSecret: "s", username: "u", password: password)
    }
    let key = try password("p").refusalKey(latest: nil)
    #expect(try password("p").matches(key, latest: nil) && password("p").refusalKey(latest: nil) != key)
    #expect(try !password("q").matches(key, latest: nil) && !password("p", "https://m").matches(key, latest: nil))
    #expect(try !password("p").matches(key, latest: "r") && !password("p").matches("", latest: nil))
    let refresh = Credentials.refreshToken(loginURL: "https://l", clientId: "c", clientSecret: nil, refreshToken: "r")
    #expect(try !refresh.matches(refresh.refusalKey(latest: "r1"), latest: "r2"))
  }

  @Test func keptSession_asJSON_staysTheSameWithUnknownKeys() throws {
    var kept = StoredSession(session: new, refusal: refusal())
    kept.unreachableAt = 12
    kept.session?.refreshToken = "r"
    kept.session?.scope = "api refresh_token"
    kept.session?.refreshedAt = 34
    #expect(StoredSession(json: kept.json) == kept)
    guard case .object(var object) = kept.json else { throw Unexpected(what: "no object") }
    #expect(object["version"] == 2)
    object["later"] = [1, 2]
    object["version"] = 3
    let read = try #require(StoredSession(json: .object(object)))
    #expect(read.session == kept.session && read.json == .object(object))
    object["refused"] = nil
    object["accessToken"] = nil
    #expect(StoredSession(json: .object(object)) == nil)
  }

  @Test func session_withoutTheNewKeys_isRead() {
    let old: JSONValue = ["accessToken": "a", "instanceURL": "https://i", "loginURL": "https://l"]
    let kept = StoredSession(json: old)
    #expect(kept?.session?.accessToken == "a" && kept?.refusal == nil && kept?.json["version"] == 2)
  }
}
