import Glibc

/// The settings of a worker.
package struct WorkerSettings: Sendable {
  /// The settings of its hosts. An `org` limits it to that org.
  package var host = HostSettings()
  package var queue = "default"
  /// The number of jobs that run at once.
  package var slots = 4
  /// Whether to end as soon as nothing is due.
  package var isDraining = false
  /// The folder of scripts; nil to leave script jobs to other workers.
  package var scripts: String?
  /// The program and the first arguments of a script job. The file itself, so that an update does not change a running worker.
  package var scriptCommand = ["/proc/self/exe", "run"]
  /// Identifies the worker in the list of jobs.
  package var owner = WorkerSettings.newOwner()

  /// How long a job stays reserved without a heartbeat, in milliseconds: as long as a lease.
  var claimMs = Tuning.jobClaimMs
  /// Milliseconds between two heartbeats; nil for a third of the claim.
  var heartbeatMs: Int64?
  var pollMs = Tuning.jobPollMs
  var graceMs = Tuning.workerGraceMs
  var accountsMs = Tuning.workerAccountsMs
  var databasePauseMs = Tuning.databasePauseMs

  package init() {}

  var heartbeatPauseMs: Int64 { heartbeatMs ?? claimMs / 3 }

  /// `machine:4711:9f3c`: a restarted worker is another one, also if it gets the same process id.
  private static func newOwner() -> String {
    var name = [CChar](repeating: 0, count: 256)
    let host = gethostname(&name, name.count - 1) == 0 ? name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) } : []
    let machine = host.isEmpty ? "host" : String(decoding: host, as: UTF8.self)
    return "\(machine):\(getpid()):\(String(UInt16.random(in: .min ... .max), radix: 16))"
  }
}
