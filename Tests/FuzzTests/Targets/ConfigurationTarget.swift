import Glibc
import JSON
import Support
import TestSupport

@testable import RestClient
@testable import Salesforce
@testable import SandboxOrg
@testable import SandboxServer
@testable import Tureen

/// The files that people write: those of a script's folder, credentials, certificates, files to import, and those of the sandbox.
/// Each is read or refused with the file's name and a reason.
enum ConfigurationTarget {
  private static let folderFiles = [
    "bootconfig.json", "userstore.json", "globalstore.json", "usersyncs.json", "globalsyncs.json", "connections.json",
  ]

  static let target = ParserTarget(
    "configuration", usualRounds: 700,
    dictionary: [
      "\"soups\":", "\"soupName\":", "\"indexes\":", "\"path\":", "\"type\":\"string\"", "full_text", "json1", "\"syncs\":",
      "\"syncName\":",
      "\"syncType\":\"syncDown\"", "\"target\":", "\"options\":", "\"baseURL\":", "\"auth\":", "{\"env\":\"PATH\"}",
      "{\"file\":\"/dev/null\"}",
      "{\"command\":[\"true\"]}", "\"headers\":", "https://h.example", "http://h.example", "http://127.0.0.1:1", "\"kind\":",
      "\"fields\":",
      "\"formula\":", "\"reference\"", "ROUND(", "\"users\":", "\"clients\":", "BEGIN CERTIFICATE", "every=", "path=/**", "\"\"",
      ",\"", "\r",
      "\u{FEFF}", "../", "/", "~", "org", "home", "user", "sandbox",
    ],
    parts: folderFiles + [
      "credentials.json", "schema.json", "sign-in data", "fault", "certificates", "kept token", "csv", "jsonl", "json",
    ]
  ) {
    let folder = try TemporaryFolder()
    return folderFiles.map { name in FuzzedParser(name) { try read($0, name, in: folder) } } + [
      FuzzedParser("credentials.json") { try credentials($0, in: folder) }, FuzzedParser("schema.json", schema),
      FuzzedParser("sign-in data") { bytes in
        let data = try SandboxSignInData(JSONValue(parsing: bytes))
        return "\(data.users.isEmpty) \(data.clients.isEmpty) \(data.sites.isEmpty)"
      },
      .text("fault", fault),
      FuzzedParser("certificates") { bytes in
        guard let found = TrustedCertificates(pem: bytes) else { throw FuzzedParser.Refused() }
        return "\(found.count)"
      },
      .object("kept token", keptToken),
    ] + ImportParsers.all
  }

  // MARK: A script's folder

  private static func read(_ bytes: [UInt8], _ name: String, in folder: TemporaryFolder) throws -> String {
    let path = folder.path + "/" + name
    try FileSystem.write(bytes, to: path)
    defer { unlink(path) }
    let restricted = Result {
      var settings = HostSettings()
      settings.isRestricted = true
      return try ConfigurationFolder(folder.path, settings)
    }
    do {
      let found = try ConfigurationFolder(folder.path, HostSettings())
      for connection in found.connections { try check(connection) }
      return "\(found.connections.count) \(found.userStore != nil) \(found.userSyncs != nil) \((try? restricted.get()) != nil)"
    } catch let error as HostError {
      try FuzzFailure.unless(error.code == .invalidConfiguration, "\(name) gives \(error.code): \(error.message)")
      try FuzzFailure.unless(error.message.hasPrefix(path), "the message does not name the file: \(error.message.prefix(300))")
      // Restricted scripts have no connections.
      let isUnread = (try? restricted.get()) != nil
      try FuzzFailure.unless(
        !isUnread || name == "connections.json", "a restricted script may use what others may not: \(error.message)")
      throw FuzzedParser.Refused(String(error.message.dropFirst(path.count)))
    }
  }

  /// What the client relies on when it sends requests of a connection.
  private static func check(_ connection: ConnectionSettings) throws(FuzzFailure) {
    let address = WebAddress(connection.baseURL)
    try FuzzFailure.unless(address != nil, "the base URL '\(connection.baseURL)' has no address")
    try FuzzFailure.unless(
      address.map { $0.isEncrypted || $0.isLoopback } ?? false, "unencrypted requests to '\(connection.baseURL)'")
    for header in connection.headers {
      try FuzzFailure.unless(
        !header.name.isEmpty && header.name.utf8.allSatisfy(RequestHead.isTokenByte), "the header name '\(header.name)'")
      if case .text(let value) = header.value {
        try FuzzFailure.unless(value.utf8.allSatisfy { $0 == 9 || $0 >= 32 && $0 != 127 }, "a header with a control character")
      }
    }
    try FuzzFailure.unless(
      connection.timeoutS > 0 && connection.timeoutS.isFinite && connection.maxBytes > 0 && connection.pauseMs >= 0,
      "limits: \(connection)")
    try FuzzFailure.unless(connection.maxParallel.reads > 0 && connection.maxParallel.writes > 0, "limits: \(connection)")
  }

  private static func credentials(_ bytes: [UInt8], in folder: TemporaryFolder) throws -> String {
    let path = folder.path + "/credentials.json"
    try FileSystem.write(bytes, to: path)
    do {
      let found = try CredentialsSource.read(path, defaultURL: "https://login.salesforce.com", allowsCommands: false)
      return "\(found.flow) \(found.keepsSession) \(found.user.isEmpty)"
    } catch let error as HostError {
      try FuzzFailure.unless(error.message.hasPrefix(path), "the message does not name the file: \(error.message.prefix(300))")
      throw FuzzedParser.Refused("\(error.code) \(error.message.dropFirst(path.count))")
    }
  }

  private static func keptToken(_ json: JSONObject) throws -> String {
    guard let token = StoredToken(json: .object(json)) else { throw FuzzedParser.Refused() }
    let again = StoredToken(json: token.json)
    try FuzzFailure.unless(again == token, "a kept token that reads differently: \(token.json.text.prefix(300))")
    return "\(token.accessToken != nil) \(token.renewAt != nil) \(token.refusal != nil)"
  }

  // MARK: The sandbox

  private static let faultKinds = HTTPFaultKinds.all + SalesforceFaultKinds.all

  private static func schema(_ bytes: [UInt8]) throws -> String {
    do {
      let file = try SchemaFile(name: "schema.json", text: bytes)
      return "\(file.objects.count) \(file.briefcase.count)"
    } catch {
      try FuzzFailure.unless(error.code == "INVALID_SCHEMA_FILE", "the code \(error.code): \(error.message)")
      try FuzzFailure.unless(error.message.hasPrefix("schema.json"), "the message does not name the file: \(error.message)")
      throw FuzzedParser.Refused(String(error.message.dropFirst("schema.json".count)))
    }
  }

  private static func fault(_ text: String) throws -> String {
    do {
      let rule = try FaultRule(text: text, kinds: faultKinds)
      try FuzzFailure.unless(
        (try? FaultRule(json: .object(rule.json))) == rule, "a rule that reads differently: \(JSONValue.object(rule.json).text)")
      try rule.check(faultKinds)
      return rule.fault.kind
    } catch let error as SandboxError {
      try FuzzFailure.unless(error.code == "INVALID_FAULT", "the code \(error.code): \(error.message)")
      throw error
    }
  }
}
