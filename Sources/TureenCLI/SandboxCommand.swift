import ArgumentParser
import Dispatch
import Glibc
import JSON
import RestClient
import Salesforce
import Tureen

#if Sandbox
  import SandboxForge
  import SandboxOrg
  import SandboxParse

  struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sandbox",
      abstract: "Serve a sandbox org on this machine until interrupted.",
      discussion: """
        The org answers as a Salesforce org does, on 127.0.0.1 by default. The command prints how to sign in and writes it to \
        sandbox/credentials.json under the home, where scripts with the org 'sandbox' find it. With --tls no file is \
        written: scripts sign in by address, with $TUREEN_CA_FILE. While the sandbox runs, other commands with this home use it.

        It also serves a forge, which answers as GitHub's REST API does, under /api/v3, and a Parse server with a library of \
        books under /parse. Their addresses, tokens and keys are printed, too. Their data is reset at each start.

        With --apex a Lua file answers requests to /services/apexrest/. The file runs again for each request, without access to \
        files, programs and the environment, for 10 seconds at most.
        """
          + ExitStatus.help([
            (0, "interrupted"),
            (64, "wrong usage"),
            (69, "it cannot be started: the port is in use, another one is served under this home, or a file is wrong"),
          ]))

    @Option(help: "The folder of the org's data and credentials.", transform: nonEmpty)
    var home: String?

    @Option(help: "The port; 0 takes a free one.")
    var port = 0

    @Option(help: "A database file for the org instead of the one under the home.")
    var data: String?

    @Option(help: "Create this many contacts in a new org.")
    var contacts: Int?

    @Option(help: "Create this many accounts in a new org.")
    var accounts: Int?

    @Option(
      help: "A JSON file of objects, fields and rules to add; the org remembers it.", completion: .file())
    var schema: String?

    @Option(
      help: ArgumentHelp(
        "A JSON or CSV file of records for a new org; may be repeated. An existing org is left as it is."),
      completion: .file())
    var seed: [String] = []

    @Option(
      help: "A Lua file whose handlers answer /services/apexrest/; bridge-spec/sandbox shows one.", completion: .file())
    var apex: String?

    @Option(help: "A JSON file of further users and clients that may sign in.")
    var signIn: String?

    @Flag(help: "Serve https with a certificate that is made for it; the command prints the file that clients must trust.")
    var tls = false

    @Option(name: .customLong("tls-cert"), help: "Serve https with the certificate and chain in this PEM file.")
    var tlsCertificate: String?

    @Option(name: .customLong("tls-key"), help: "The PEM file with the key of --tls-cert.")
    var tlsKey: String?

    @Option(help: "The address to listen on; addresses that other machines reach need --allow-remote.")
    var host = "127.0.0.1"

    @Flag(help: "Allow other machines to reach the sandbox.")
    var allowRemote = false

    @Option(
      help: ArgumentHelp(
        "A fault, such as 'unavailable retryAfter=2 nth=3 path=/services/data/**'; --fault help lists the kinds.",
        valueName: "rule"))
    var fault: [String] = []

    @Option(help: "A JSON file with an array of fault rules.")
    var faults: String?

    @Option(help: "The seed of random faults.")
    var faultSeed: UInt64 = 1

    @Option(help: "Append a line of JSON for each request to this file.")
    var log: String?

    @Option(
      help: ArgumentHelp(
        "The address of the org in answers to sign-ins, for clients that accept only such as "
          + "https://acme.my.salesforce.com; a proxy or /etc/hosts must lead there.", valueName: "url"))
    var instanceUrl: String?

    @Option(help: ArgumentHelp("Refuse calls with 403 after this many in 24 hours.", valueName: "count"))
    var dailyCalls = 15_000

    @Option(
      help: ArgumentHelp("A number that determines the org's id, for programs that work with several orgs.", valueName: "number"))
    var orgId: Int64 = 1

    @Option(
      help: ArgumentHelp(
        "Allow web pages of this origin, such as https://*.example.org; those of this machine are always allowed.",
        valueName: "origin"))
    var corsOrigin: [String] = []

    @Option(
      help: ArgumentHelp(
        "Settings of the forge, such as 'links=path largestPage=10'; bridge-spec/sandbox lists them.", valueName: "settings"))
    var forge: [String] = []

    @Option(
      help: ArgumentHelp(
        "Settings of the Parse server, such as 'maxLimit=100 enforcePrivateUsers=false'; bridge-spec/sandbox lists them.",
        valueName: "settings"))
    var parse: [String] = []

    func validate() throws {
      guard (tlsCertificate == nil) == (tlsKey == nil) else {
        throw ValidationError("--tls-cert and --tls-key go together")
      }
      if let url = instanceUrl, WebAddress(url) == nil || url.split(separator: "/").count != 2 || url.hasSuffix("/") {
        throw ValidationError("--instance-url: '\(url)' is not like https://acme.my.salesforce.com, without a path")
      }
      guard (1...1_000_000_000).contains(orgId) else { throw ValidationError("--org-id must be between 1 and 1000000000") }
      guard dailyCalls > 0 else { throw ValidationError("--daily-calls must be above 0") }
      guard (0...65535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
      for count in [contacts, accounts].compactMap({ $0 }) where !(0...5_000_000).contains(count) {
        throw ValidationError("--contacts and --accounts must be between 0 and 5000000")
      }
    }

    func run() throws {
      guard fault != ["help"] else { return write(FaultOptions.help(), to: STDOUT_FILENO) }
      let rules = try FaultOptions(words: fault, file: faults).rules()
      let forge = try Self.forge(self.forge), parse = try Self.parse(self.parse)
      let home = try checkedHome(home)
      var configuration = SandboxConfiguration()
      configuration.port = port
      configuration.host = host
      configuration.allowsRemote = allowRemote
      configuration.logPath = log
      configuration.dailyCalls = dailyCalls
      configuration.organizationNumber = orgId
      configuration.corsOrigins = corsOrigin
      configuration.instanceURL = instanceUrl
      configuration.mounts = [forge.mount] + parse.mounts
      if contacts != nil || accounts != nil {
        configuration.seed = .custom(accounts: accounts ?? 200, contacts: contacts ?? 5000)
      }
      let files = SandboxFiles.schemaAndSeeds(home: home)
      configuration.schemaPath = schema ?? files.schema
      configuration.seedPaths = seed.isEmpty ? files.seeds : seed
      if !configuration.seedPaths.isEmpty, contacts == nil, accounts == nil { configuration.seed = .none }
      let server: SandboxServer, place: ServedSandbox.Lock
      do {
        let script = try apex.map { path throws(SandboxError) in try ApexScript(file: path) }
        place = try ServedSandbox.Lock(home: home)
        if let signIn {
          configuration.signIn = try SandboxSignInData(file: signIn)
        }
        if let tlsCertificate, let tlsKey {
          configuration.tls = .files(certificate: tlsCertificate, key: tlsKey)
        } else if tls {
          configuration.tls = .generated(folder: try SandboxFiles.certificates(home: home))
        }
        configuration.databasePath = try data ?? SandboxFiles.database(home: home)
        server = try waitFor { [configuration] in try await SandboxServer.start(configuration) }
        try script?.install(on: server)
        server.faults.reset(seed: faultSeed)
        try server.faults.add(rules)
      } catch let error as ServedSandbox.Lock.Taken {
        complain(
          "the sandbox org cannot be started: process \(error.processId) serves one under \(home) already; end that one first, "
            + "or give this one another home with --home")
        throw ExitCode(ExitStatus.unavailable)
      } catch {
        complain("the sandbox org cannot be started: \((error as? SandboxError)?.message ?? "\(error)")")
        throw ExitCode(ExitStatus.unavailable)
      }
      // Before the announcement, because a reader of it may send a signal at once.
      let interrupted = DispatchSemaphore(value: 0)
      let watch = InterruptWatch(grace: nil) { interrupted.signal() }
      try announce(server, forge, parse, home, place)
      interrupted.wait()
      withExtendedLifetime(watch) {}
      place.withdraw()
      SandboxFiles.forgetCredentials(home: home, of: server.url)
      try waitFor { await server.stop() }
      withExtendedLifetime(place) {}
    }

    private static func forge(_ words: [String]) throws -> ForgeService {
      do {
        return ForgeService(settings: try ForgeSettings(words: words))
      } catch {
        throw ValidationError("--forge: \(error.message)")
      }
    }

    private static func parse(_ words: [String]) throws -> ParseService {
      do {
        return ParseService(settings: try ParseSettings(words: words))
      } catch {
        throw ValidationError("--parse: \(error.message)")
      }
    }

    /// Stores the credentials where other commands find them, then prints how to sign in.
    private func announce(
      _ server: SandboxServer, _ forge: ForgeService, _ parse: ParseService, _ home: String, _ place: ServedSandbox.Lock
    ) throws {
      let access = server.credentials()
      var lines = [
        "Sandbox org at \(server.url)", "  username       \(access.username)", "  password       \(access.password)",
        "  client id      \(access.clientId)", "  client secret  \(access.clientSecret)",
        "  control token  \(server.controlToken)",
      ]
      if let authority = server.certificateAuthorityPath {
        lines.append("Certificate to trust (curl --cacert, REQUESTS_CA_BUNDLE, TUREEN_CA_FILE): \(authority)")
      } else {
        let path = try SandboxFiles.keepCredentials(
          home: home,
          [
            "loginUrl": .string(access.loginURL), "clientId": .string(access.clientId),
            "clientSecret": .string(access.clientSecret), "username": .string(access.username),
            "password": .string(access.password),
          ])
        lines.append("Credentials for scripts: \(path)")
      }
      lines.append("Forge (as GitHub's REST API) at \(forge.url)")
      lines += forge.tokens.sorted { $0.key < $1.key }.map {
        "  token of \($0.key)\(String(repeating: " ", count: 6 - $0.key.count))\($0.value)"
      }
      lines += [
        "Parse server at \(parse.url)", "  application id  \(parse.keys.applicationId)",
        "  REST API key    \(parse.keys.restAPIKey)", "  client key      \(parse.keys.clientKey)",
        "  JavaScript key  \(parse.keys.javascriptKey)", "  master key      \(parse.keys.masterKey)",
      ]
      place.announce(
        ServedSandbox(
          url: server.url, controlToken: server.controlToken, authority: server.certificateAuthorityPath,
          forge: forge.tokens["ada"].map { .init(url: forge.url, token: $0) },
          parse: .init(url: parse.url, applicationId: parse.keys.applicationId, restAPIKey: parse.keys.restAPIKey)))
      lines.append("Ctrl-C ends it.")
      write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
    }
  }
#else
  /// Explains why this build has no such command.
  struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sandbox", abstract: "Not in this build.", shouldDisplay: false)

    @Argument(parsing: .allUnrecognized) var rest: [String] = []

    func run() throws {
      complain("this build of tureen has no sandbox org; build it with the package trait Sandbox, which is on by default")
      throw ExitCode(ExitStatus.unavailable)
    }
  }
#endif
