import JSON

/// The options of `tureen_run_isolated` that a host does not have.
extension IsolatedRun {
  private static let keys: Set<String> = [
    "memoryLimit", "instructionLimit", "timeLimitMs", "hostMemoryLimit", "worker", "withoutSeccomp", "output", "errors",
    "arguments",
    "allowedHosts", "allowedServices",
  ]

  /// - Parameter options: The settings of `tureen_open`, and the options above.
  /// - Returns: The run, and the arguments of its script.
  /// - Throws: ``HostError`` `.invalidConfiguration`.
  static func reading(_ options: JSONObject) throws -> (run: IsolatedRun, arguments: [String]) {
    func problem(_ key: String, _ text: String) -> HostError {
      HostError(.invalidConfiguration, "options: '\(key)' \(text)")
    }
    func count(_ key: String, least: Int64) throws -> Int64? {
      guard let value = options[key], value != .null else { return nil }
      guard case .integer(let count) = value, count >= least else {
        throw problem(key, "must be an integer of at least \(least)")
      }
      return count
    }
    func descriptor(_ key: String, _ standard: Int32) throws -> Int32 {
      guard let count = try count(key, least: 0) else { return standard }
      guard let descriptor = Int32(exactly: count) else { throw problem(key, "must be a file descriptor") }
      return descriptor
    }
    var run = IsolatedRun()
    try run.settings.take(options, known: keys, problem: problem)
    run.memoryLimit = try count("memoryLimit", least: 1).map { UInt64($0) }
    run.instructionLimit = try count("instructionLimit", least: 1).map { UInt64($0) }
    run.timeLimitMs = try count("timeLimitMs", least: 1).map { UInt64($0) }
    run.hostMemoryLimit = try count("hostMemoryLimit", least: 1).map { UInt64($0) }
    run.output = try descriptor("output", run.output)
    run.errors = try descriptor("errors", run.errors)
    if let value = options["worker"], value != .null {
      guard let path = value.stringValue, !path.isEmpty else { throw problem("worker", "must be a path") }
      run.worker = path
    }
    if let value = options["withoutSeccomp"], value != .null {
      guard case .bool(let isAllowed) = value else { throw problem("withoutSeccomp", "must be a boolean") }
      run.allowsMissingFilter = isAllowed
    }
    func words(_ key: String) throws -> [String] {
      guard let value = options[key], value != .null else { return [] }
      guard let words = value.arrayValue?.map(\.stringValue) as? [String] else {
        throw problem(key, "must be an array of strings")
      }
      return words
    }
    run.settings.allowedHosts = Set(try words("allowedHosts"))
    run.settings.allowedServices = Set(try words("allowedServices"))
    return (run, try words("arguments"))
  }
}
