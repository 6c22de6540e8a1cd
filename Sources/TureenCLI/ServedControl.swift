import JSON
import LuaBridge
import RestClient
import Salesforce
import Tureen

/// A sandbox org that `tureen sandbox` serves in another process under the same home. It is controlled over HTTP.
struct ServedControl: SandboxControl {
  private let served: ServedSandbox
  private let client: SalesforceClient

  /// - Throws: ``HostError`` if it is served with TLS: scripts must sign in to it by address.
  init(_ served: ServedSandbox) throws {
    if let authority = served.authority {
      throw HostError(
        .noSuchOrg,
        "the sandbox org of this home is served with --tls: set TUREEN_ORG=\(served.url) and TUREEN_CA_FILE=\(authority), and "
          + "sign in with what it has printed")
    }
    self.served = served
    client = SalesforceClient(
      session: Session(accessToken: served.controlToken, instanceURL: served.url, loginURL: served.url), policy: .never)
  }

  func credentials(home: String) throws -> Credentials { try SandboxFiles.credentials(home: home) }

  func perform(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    let request = RestRequest(.POST, "/__sandbox/\(action)", body: JSONValue.object(arguments).serialized())
    do {
      return try waitFor { [client] in try await client.send(request).json() }
    } catch let error as RestError {
      let serverCode = error.serverCode ?? ""
      if ["INVALID_ARGUMENT", "INVALID_FAULT"].contains(serverCode) {
        throw BridgeError(domain: "bridge", code: "invalidArguments", message: error.message)
      }
      if error.status == 404, serverCode == "NOT_FOUND", error.message.contains("no action") {
        throw BridgeError(domain: "bridge", code: "unknownAction", message: error.message)
      }
      throw BridgeError(domain: "sandbox", code: "refused", message: error.message)
    }
  }

  func stop() { _ = try? waitFor { [client] in await client.shutdown() } }
}
