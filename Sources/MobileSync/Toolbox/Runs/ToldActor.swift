import JSON
import SmartStore

extension HistoryActor {
  /// What people call it: `tureen sync`, a script, or what the program calls itself.
  package var title: String {
    switch kind {
    case .script, .job: name ?? kind.rawValue
    case .cli: "tureen \(name ?? "")"
    case .exec: "tureen exec"
    case .repl: "tureen repl"
    case .import: "tureen import"
    case .inspector: "tureen inspect"
    case .host, .resume: name ?? "a program"
    }
  }

  /// The form that scripts get.
  /// - Parameter pid: The process of a run; nil if it is not known.
  func json(pid: Int64? = nil) -> JSONObject {
    [
      "kind": .string(kind.rawValue), "name": name.map { .string($0) } ?? .null, "host": .string(host),
      "uid": uid.map { .integer($0) } ?? .null, "version": .string(version), "pid": pid.map { .integer($0) } ?? .null,
    ]
  }
}
