import Foundation
import JSON
import SandboxOrg
import Testing

@Suite struct SoapTests {
  private func login(_ username: String, _ password: String, prefix: String = "urn:") -> String {
    let attribute = prefix.isEmpty ? " xmlns=\"urn:partner.soap.sforce.com\"" : ""
    return """
      <?xml version="1.0" encoding="utf-8" ?>
      <!-- sign-in --><env:Envelope xmlns:env='http://schemas.xmlsoap.org/soap/envelope/'><env:Header/>
      <env:Body><\(prefix)login\(attribute)><\(prefix)username>\(username)</\(prefix)username>
      <\(prefix)password>\(password)</\(prefix)password></\(prefix)login></env:Body></env:Envelope>
      """
  }

  private func send(_ client: WireClient, _ body: String, version: String = "59.0", api: String = "u") async throws
    -> WireClient.Answer
  {
    try await client.send(
      "POST", "/services/Soap/\(api)/\(version)", headers: [("Content-Type", "text/xml"), ("SOAPAction", "login")],
      body: Array(body.utf8))
  }

  private func value(_ name: String, _ answer: WireClient.Answer) -> String {
    let parts = answer.text.components(separatedBy: "<\(name)>")
    return parts.count > 1 ? parts[1].components(separatedBy: "</")[0] : ""
  }

  @Test func login_everySpelling_bringsASession() async throws {
    try await withSignIn { server, client in
      let bodies = [
        login("grace@example.org", "h0pperTOKEN"), login("GRACE@example.org", "h0pperTOKEN", prefix: ""),
        login("grace@example.org", "<![CDATA[h0pper]]>T&#79;&#x4b;EN", prefix: "n1:"),
      ]
      for (body, api) in zip(bodies, ["u", "c", "u"]) {
        let answer = try await send(client, body, api: api)
        #expect(answer.status == 200 && answer.headers["content-type"] == "text/xml;charset=UTF-8")
        let organization = server.credentials().organizationId.prefix(15)
        #expect(value("serverUrl", answer) == "\(server.url)/services/Soap/\(api)/59.0/\(organization)")
        let namespace = api == "c" ? "urn:enterprise.soap.sforce.com" : "urn:partner.soap.sforce.com"
        #expect(answer.text.contains(" xmlns=\"\(namespace)\""))
        #expect(value("profileId", answer).hasPrefix("00e") && answer.text.contains("<roleId xsi:nil=\"true\"/>"))
        #expect(answer.text.contains("<userDefaultCurrencyIsoCode xsi:nil=\"true\"/>"))
        #expect(value("userName", answer) == "grace@example.org" && value("sessionSecondsValid", answer) == "7200")
        let signedIn = WireClient(port: server.port, token: value("sessionId", answer))
        #expect(try await signedIn.query("SELECT Id FROM User").status == 200)
      }
    }
  }

  @Test func login_refused_isAFaultThatClientsRead() async throws {
    try await withSignIn { _, client in
      for (user, password) in [("grace@example.org", "h0pper"), ("nobody", "x"), ("gone@example.org", "gone"), ("", "")] {
        let answer = try await send(client, login(user, password))
        #expect(answer.status == 500 && value("faultcode", answer) == "INVALID_LOGIN")
        #expect(value("sf:exceptionCode", answer) == "INVALID_LOGIN")
        #expect(value("sf:exceptionMessage", answer) == "Invalid username, password, security token; or user locked out.")
        #expect(value("faultstring", answer).hasPrefix("INVALID_LOGIN: Invalid username"))
      }
      let enterprise = try await send(client, login("nobody", "x"), api: "c")
      #expect(enterprise.text.contains(" xmlns:sf=\"urn:fault.enterprise.soap.sforce.com\""))
      let version = try await send(client, login("grace@example.org", "h0pperTOKEN"), version: "12.0")
      #expect(version.status == 500 && value("faultcode", version) == "UNSUPPORTED_API_VERSION")
    }
  }

  @Test func logout_endsTheSession() async throws {
    try await withOrg { _, client in
      let body = """
        <e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header><SessionHeader><sessionId>\(client.token ?? "")\
        </sessionId></SessionHeader></e:Header><e:Body><logout xmlns="urn:partner.soap.sforce.com"/></e:Body></e:Envelope>
        """
      #expect(try await send(client, body).text.contains("<logoutResponse/>"))
      #expect(try await client.query("SELECT Id FROM User").status == 401)
      let again = try await send(client, body)
      #expect(again.status == 500 && value("faultcode", again) == "INVALID_SESSION_ID")
    }
  }

  @Test(arguments: [
    "", "no xml", "<a>", "<a></b>", "<a/><b/>", "<a b></a>", "<a b=c/>", "<a>&nbsp;</a>", "<a>&#0;</a>", "<a>&amp</a>",
    "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a><!DOCTYPE b></a>",
    "<?xml version=\"1.0\"?><!DOCTYPE lolz [<!ENTITY lol SYSTEM \"file:///etc/passwd\">]><lolz>&lol;</lolz>",
    "<e:Envelope><e:Header/></e:Envelope>", "<Envelope><Body/></Envelope>", "<Envelope><Body><magic/></Body></Envelope>",
    String(repeating: "<a>", count: 5_000), "<a>" + String(repeating: "x", count: 70_000) + "</a>",
  ])
  func soap_otherThanSignIn_isAFault(body: String) async throws {
    try await withSignIn { _, client in
      let answer = try await send(client, body)
      #expect(answer.status == 500 && value("faultcode", answer) == "soapenv:Client" && !value("faultstring", answer).isEmpty)
      #expect(!answer.text.contains("root:"))
    }
  }
}
