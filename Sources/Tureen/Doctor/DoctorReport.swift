import JSON
import MobileSync

/// What `tureen doctor` found: each check with its fix.
public struct DoctorReport: Sendable {
  public private(set) var checks: [HealthCheck] = []

  public init(_ checks: [HealthCheck] = []) { self.checks = checks }

  /// Checks the files of a home, which may be in a state in which no host starts.
  public init(ofHome home: String, _ options: DoctorOptions) {
    self.init(HomeCheckup(home: home, fixes: options.fixes).checks())
  }

  public mutating func add(_ check: HealthCheck) { checks.append(check) }
  public mutating func add(_ more: [HealthCheck]) { checks += more }

  public func count(_ status: HealthCheck.Status) -> Int { checks.count { $0.status == status } }

  public var json: JSONObject {
    [
      "checks": .array(checks.map { .object($0.json) }),
      "summary": .object(JSONObject(HealthCheck.Status.allCases.map { ($0.rawValue, .integer(Int64(count($0)))) })),
    ]
  }

  /// The report for others: without texts that may quote values of records, and without the names of the home's folders.
  public func json(without home: String) -> JSONObject {
    var json = DoctorReport(
      checks.map { check in
        var check = check
        // Servers quote values in what they say.
        if check.details["said"] != nil {
          check.details["said"] = nil
          check.text = check.details["short"]?.stringValue ?? check.text
        }
        check.text = check.text.replacing(home, with: "HOME")
        check.fix = check.fix?.replacing(home, with: "HOME")
        check.details = JSONObject(
          check.details.map { ($0.key, $0.value.stringValue.map { .string($0.replacing(home, with: "HOME")) } ?? $0.value) })
        return check
      }
    ).json
    json["version"] = .string(Tureen.version)
    return json
  }
}
