#if Sandbox
  import CApexScript
  import Glibc
  import JSON
  import LuaBridge
  import SandboxOrg
  import Support

  /// A Lua file that answers `/services/apexrest/` of a sandbox org.
  ///
  /// The file runs once at the start, to register its routes, and again for each request. As with Apex, only records outlive a
  /// request, and each request has its own limits.
  struct ApexScript: Sendable {
    struct Route: Sendable {
      let method: String
      /// Such as `/visits/:name`.
      let path: String
    }

    /// The limits of a request. Apex allows 10 s of processor time and less memory.
    static let limits = {
      var limits = ScriptLimits()
      limits.isRestricted = true
      limits.memory = 256 << 20
      limits.instructions = 200_000_000  // 1 to 2 s of Lua
      limits.timeMs = 120_000  // a busy machine must not end a handler
      return limits
    }()

    private let name: String
    private let source: String
    private var routes: [Route] = []

    /// Reads the file and runs it.
    /// - Throws: ``SandboxError`` with status 0, naming the file and, if known, the line.
    init(file path: String) throws(SandboxError) {
      guard access(path, R_OK) == 0, let bytes = FileSystem.read(path) else {
        throw Self.unusable("\(path): \(String(cString: strerror(errno)))")
      }
      guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.unusable("\(path): not valid UTF-8") }
      name = path
      source = Self.chunk(text)
      let (host, outcome, _) = try run(begun: [:], call: nil)
      switch outcome {
      case .done: routes = host.routes
      case .failed(let message), .notRunnable(let message):
        throw Self.unusable(message.isEmpty ? "\(path): a callback failed" : Self.withoutTraceback(message))
      case .limitReached(let kind, let message):
        let why = kind == .memory ? "the file needs too much memory" : "the file did not end within the limits of a request"
        throw Self.unusable(Self.place(message) + why)
      case .exited: throw Self.unusable("\(path): tureen.main has ended it; register handlers instead")
      }
      guard !routes.isEmpty else {
        throw Self.unusable("\(path): the file registers no handlers; call apex.get(\"/path\", function(request, org) ... end)")
      }
    }

    /// Lets the file answer a request.
    func install(on server: SandboxServer) throws {
      for (number, route) in routes.enumerated() {
        do {
          try server.setApexRest(route.method, String(route.path.dropFirst())) { try answer(number, $0) }
        } catch let error as SandboxError {
          throw Self.unusable("\(name): \(route.method) \(route.path): \(error.message)")
        }
      }
    }

    // MARK: A request

    /// On the org's queue, in the transaction of the request.
    private func answer(_ number: Int, _ call: ApexCall) throws -> ApexAnswer {
      let route = routes[number]
      let (host, outcome, failure) = try run(
        begun: [
          "route": .integer(Int64(number + 1)), "method": .string(route.method), "path": .string(route.path),
          "request": Self.request(call),
        ], call: call)
      switch outcome {
      case .done:
        guard let answer = host.answer else { throw Self.exception("the handler has not answered") }
        return answer
      case .failed(let text), .notRunnable(let text):
        let message = Self.withoutTraceback(text.isEmpty ? "a callback of the handler failed" : text)
        if let failure, failure.domain == "apex", let status = Int(failure.reason), (400...599).contains(status) {
          throw SandboxError(status: status, code: failure.code, message: message)
        }
        log(call, text)
        switch failure?.domain {
        case "dml": throw Self.exception("\(failure?.code ?? ""), \(message)", kind: "DmlException")
        case "query": throw Self.exception(message, kind: "QueryException")
        default: throw Self.exception(message)
        }
      case .limitReached(let kind, let text):
        let message = kind == .memory ? "Apex heap size too large" : "Apex CPU time limit exceeded"
        log(call, Self.place(text) + message)
        throw Self.exception(message, kind: "LimitException")
      case .exited:
        log(call, "tureen.main is not for handlers")
        throw Self.exception("tureen.main is not for handlers")
      }
    }

    private static func request(_ call: ApexCall) -> JSONValue {
      func object(_ texts: [String: String]) -> JSONValue {
        .object(texts.reduce(into: JSONObject()) { $0[$1.key] = .string($1.value) })
      }
      var request: JSONObject = [
        "method": .string(call.method), "path": .string(call.path), "parameters": object(call.parameters),
        "query": object(call.queryParameters), "headers": object(call.headers), "userId": .string(call.userId),
      ]
      if let text = String(validating: call.body, as: UTF8.self) {
        request["body"] = .string(text)
      } else {
        request["bytes"] = .string(ApexHost.Bytes.encoded(call.body))
      }
      return .object(request)
    }

    /// Runs the file in a new Lua state.
    private func run(
      begun: JSONObject, call: ApexCall?
    ) throws(SandboxError) -> (ApexHost, ScriptState.Outcome, ScriptState.Failure?) {
      var begun = begun
      begun["name"] = .string("@" + name)
      begun["source"] = .string(source)
      let host = ApexHost(begun: .object(begun), call: call), state: ScriptState
      do {
        state = try ScriptState(host: host, limits: Self.limits)
      } catch {
        throw SandboxError(status: 503, code: "SERVER_UNAVAILABLE", message: error.message)
      }
      // Afterwards no thread of the bridge is running.
      defer { state.close() }
      let outcome = state.run(text: Self.runner, name: "=[tureen apex.lua]")
      return (host, outcome, state.failure)
    }

    private static let runner = String(
      decoding: UnsafeRawBufferPointer(start: tureen_apex_text, count: tureen_apex_text_length), as: UTF8.self)

    // MARK: Texts

    private func log(_ call: ApexCall, _ text: String) { complain("\(call.method) \(call.path): \(text)") }

    /// The text without a byte order mark and without a `#!` line, which Lua skips only when it reads files itself.
    private static func chunk(_ text: String) -> String {
      let plain = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
      return plain.hasPrefix("#") ? "--" + plain : plain
    }

    private static let traceback = "\nstack traceback:\n"

    private static func withoutTraceback(_ text: String) -> String {
      text.ranges(of: traceback).last.map { String(text[..<$0.lowerBound]) } ?? text
    }

    /// The `file:line: ` of a message about a limit. The rest of it names options of `tureen run`.
    private static func place(_ text: String) -> String {
      text.firstRange(of: "the script reached").map { String(text[..<$0.lowerBound]) } ?? ""
    }

    private static func unusable(_ message: String) -> SandboxError {
      SandboxError(status: 0, code: "CANNOT_USE_APEX", message: message)
    }

    /// An error that Apex code cannot catch.
    private static func exception(_ message: String, kind: String = "Exception") -> SandboxError {
      SandboxError(status: 500, code: "APEX_ERROR", message: "System.\(kind): \(message)")
    }
  }
#endif
