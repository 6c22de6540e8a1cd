import ArgumentParser
import Glibc
import JSON

#if Sandbox
  import SandboxForge
  import SandboxOrg
  import SandboxParse

  /// The fault rules of `--fault` and `--faults`, checked before anything starts.
  struct FaultOptions {
    let words: [String]
    let file: String?

    /// The kinds of faults of the org and of the other servers.
    private static let kinds = FaultKind.all + ForgeFaultKinds.all + ParseFaultKinds.all

    /// - Throws: `ValidationError` with the option, the field and the allowed values.
    func rules() throws -> [FaultRule] {
      var rules: [FaultRule] = []
      if let file { rules += try Self.rules(inFile: file) }
      for text in words {
        rules.append(try Self.reading("--fault '\(text)'") { try FaultRule(text: text, kinds: Self.kinds) })
      }
      for rule in rules { try Self.reading("--fault") { try rule.check(Self.kinds) } }
      return rules
    }

    private static func rules(inFile path: String) throws -> [FaultRule] {
      guard let bytes = contents(of: path) else {
        throw ValidationError("--faults \(path): \(String(cString: strerror(errno)))")
      }
      let value: JSONValue
      do {
        value = try JSONValue(parsing: bytes)
      } catch {
        let place = error.position(in: bytes)
        throw ValidationError("--faults \(path): \(error.message) in line \(place.line), column \(place.column)")
      }
      guard let list = value.arrayValue ?? value["rules"]?.arrayValue else {
        throw ValidationError("--faults \(path): must hold an array of rules")
      }
      return try list.enumerated().map { index, rule in
        try reading("--faults \(path): rule \(index + 1)") {
          let rule = try FaultRule(json: rule)
          try rule.check(Self.kinds)
          return rule
        }
      }
    }

    private static func reading<T>(_ what: String, _ body: () throws -> T) throws -> T {
      do {
        return try body()
      } catch let error as SandboxError {
        throw ValidationError("\(what): \(error.message)")
      }
    }

    private static func contents(of path: String) -> [UInt8]? {
      guard let file = fopen(path, "r") else { return nil }
      defer { fclose(file) }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = fread(&buffer, 1, buffer.count, file)
        if count == 0 { return ferror(file) == 0 ? bytes : nil }
        bytes += buffer[..<count]
      }
    }

    /// A list of all kinds with their parameters.
    static func help() -> String {
      var lines = [
        "A rule is a kind and then words: its parameters;",
        "when (one of nth=3, nth=2,5, every=4, first=2, after=2, probability=0.2);",
        "which requests (path=/services/data/**, method=GET, host=, session=, contains=); how often at most (times=1).", "",
      ]
      for kind in kinds {
        lines.append("\(kind.name): \(kind.summary)")
        lines += kind.parameters.map { parameter in
          let fallback = parameter.fallback.isNull ? "" : " (default \(parameter.fallback.text))"
          return "    \(parameter.name): \(parameter.meaning); \(parameter.allowed)\(fallback)"
        }
      }
      return lines.joined(separator: "\n") + "\n"
    }
  }
#endif
