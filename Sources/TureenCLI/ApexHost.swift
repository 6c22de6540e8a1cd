#if Sandbox
  import JSON
  import LuaBridge
  import SandboxOrg

  /// The host of Apex REST code. It offers the service `tureen.apex` and no other.
  ///
  /// The script's thread waits while a thread of the bridge performs an action, so only one of them uses the call at a time.
  final class ApexHost: BridgeHost, @unchecked Sendable {
    let plugins = Plugins()
    private let begun: JSONValue
    private let call: ApexCall?
    /// The registered routes, in order.
    private(set) var routes: [ApexScript.Route] = []
    /// The handler's answer.
    private(set) var answer: ApexAnswer?

    /// - Parameters:
    ///   - begun: The result of the action `begin`.
    ///   - call: Nil while the file registers its routes.
    init(begun: JSONValue, call: ApexCall?) {
      self.begun = begun
      self.call = call
      plugins.add("tureen.apex", isSafe: true) { [weak self] action, arguments in try self?.perform(action, arguments) }
    }

    private func perform(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
      switch action {
      case "begin": return begun
      case "routes":
        routes = (arguments["routes"]?.arrayValue ?? []).map {
          ApexScript.Route(method: $0["method"]?.stringValue ?? "", path: $0["path"]?.stringValue ?? "")
        }
        return true
      case "answer":
        let answer = try Self.answer(arguments)
        if let problem = answer.problem { throw BridgeError(domain: "apex", code: "INVALID_ANSWER", message: problem) }
        self.answer = answer
        return true
      default: return try records(action, arguments)
      }
    }

    /// - Throws: ``BridgeError`` with the org's code and message, in the domain `query` or `dml`.
    private func records(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
      let type = arguments["type"]?.stringValue ?? "", id = arguments["id"]?.stringValue ?? ""
      let domain = action == "query" ? "query" : "dml"
      guard let call else {
        throw BridgeError(domain: domain, code: "NO_REQUEST", message: "records are there for handlers alone")
      }
      do {
        switch action {
        case "query": return try call.records(arguments["soql"]?.stringValue ?? "")
        case "create": return .string(try call.create(type, fields: try Self.fields(arguments)))
        case "update": try call.update(type, id: id, fields: try Self.fields(arguments))
        case "delete": try call.delete(type, id: id)
        default: return nil
        }
        return true
      } catch let error as SandboxError {
        throw BridgeError(domain: domain, code: error.code, message: error.message)
      }
    }

    private static func fields(_ arguments: JSONObject) throws(SandboxError) -> JSONObject {
      guard let fields = arguments["fields"]?.objectValue else {
        throw SandboxError(status: 400, code: "JSON_PARSER_ERROR", message: "fields must be an object of names and values")
      }
      return fields
    }

    private static func answer(_ arguments: JSONObject) throws -> ApexAnswer {
      let headers = (arguments["headers"]?.objectValue ?? [:]).map { (name: $0.key, value: $0.value.stringValue ?? "") }
      let bytes = try arguments["bytes"]?.stringValue.map { try Bytes.decoded($0) }
      // A number that does not fit an Int is refused like any other out of range.
      let status = arguments["status"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
      return ApexAnswer(status: status, body: arguments["body"], bytes: bytes, headers: headers)
    }

    /// The bytes of a body that travels through JSON with one character for each byte.
    enum Bytes {
      static func encoded(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return String(text)
      }

      static func decoded(_ text: String) throws(BridgeError) -> [UInt8] {
        let bytes = text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        guard bytes.count == text.unicodeScalars.count else {
          throw BridgeError(domain: "apex", code: "INVALID_ANSWER", message: "the body holds a character that is not a byte")
        }
        return bytes
      }
    }

    // MARK: Everything else

    private static let refusal = BridgeError(
      domain: "bridge", code: BridgeError.Code.restricted.rawValue,
      message: "this service is not available to Apex REST code, which works with the records of its org")

    func configure(_ options: JSONObject) throws { throw Self.refusal }
    func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8] { throw Self.refusal }
    func keyValue(_ action: KeyValueAction, _ call: ActionCall) throws -> [UInt8] { throw Self.refusal }
    func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws { throw Self.refusal }
    func mobileSync(
      _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
    ) throws -> [UInt8]? { throw Self.refusal }
    func network(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws { throw Self.refusal }
    func oauth(_ action: OAuthAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
      throw Self.refusal
    }
    func account(_ action: AccountAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
      throw Self.refusal
    }
    func accounts(_ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
      throw Self.refusal
    }

    func host(_ action: HostAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
      throw Self.refusal
    }
    func asset(_ action: AssetAction, _ call: ActionCall) throws -> [UInt8] { throw Self.refusal }
    func parse(_ action: ParseAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
      throw Self.refusal
    }
    func setFeature(_ name: String, isUsed: Bool) {}
    func sdkInfo() throws -> JSONObject { throw Self.refusal }
    func attach(_ script: ScriptCalls) {}
    func shutdown() {}
  }
#endif
