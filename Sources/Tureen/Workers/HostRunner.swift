import PostgresStore
import Support
import Synchronization

/// Runs jobs with the accounts of a home.
final class HostRunner: JobRunner {
  private let settings: WorkerSettings
  private let settled: HostSettings
  private let home: String
  private let database: JobDatabase
  private let hosts = WorkerHosts()
  private let known = Mutex(WorkerAccounts())

  /// - Parameters:
  ///   - settled: The settings of its hosts, completed from the environment and the configuration files.
  ///   - home: The final home.
  init(_ settings: WorkerSettings, settled: HostSettings, home: String, _ database: JobDatabase) {
    self.settings = settings
    self.settled = settled
    self.home = home
    self.database = database
  }

  var kinds: [Job.Kind] { settings.scripts == nil ? [.sync] : [.sync, .script] }

  var accounts: [String] { known.withLock { $0.names } }

  func refresh() throws {
    let new = try WorkerAccounts.read(settings.host, settled: settled, home: home)
    known.withLock { $0 = new }
  }

  func canRun(_ store: PostgresSchema.Store) -> Bool { key(store) != nil }

  private func key(_ store: PostgresSchema.Store) -> WorkerAccounts.Key? {
    known.withLock { $0.key(org: store.org, user: store.user) }
  }

  func begin(_ claimed: ClaimedJob, onEnd: @escaping @Sendable (AttemptEnd) -> Void) -> any JobAttempt {
    let script = ScriptAttempt(onEnd: onEnd)
    do throws(JobError) {
      guard let key = key(claimed.store), let own = known.withLock({ $0.settings[key] }) else {
        throw JobError(.invalidJob, "the user is not signed in here any more")
      }
      let arguments = try JobArguments(claimed.job.arguments, isSync: claimed.job.kind == .sync)
      if claimed.job.kind == .script {
        script.begin(try command(claimed, own), try environment(claimed))
        return script
      }
      let sync = SyncAttempt(claimed, cleansGhosts: arguments.cleansGhosts, key, own, hosts, onEnd: onEnd)
      sync.begin()
      return sync
    } catch {
      onEnd(.failed(error.message, isFinal: false))
      return script
    }
  }

  /// The command of a script: `tureen run` with the user's home, org and user, the script, and the job's arguments as JSON.
  private func command(_ claimed: ClaimedJob, _ own: HostSettings) throws(JobError) -> [String] {
    guard let folder = settings.scripts else { throw JobError(.invalidJob, "this worker has no folder of scripts") }
    let path = try ScriptName.path(claimed.job.name, in: folder)
    var words = settings.scriptCommand + ["--home", home, "--quiet"]
    if let org = own.org { words += ["--org", org] }
    if let user = own.user { words += ["--user", user] }
    return words + [path, claimed.job.arguments]
  }

  /// The script uses the worker's database, also if a configuration file of the worker's project names it.
  private func environment(_ claimed: ClaimedJob) throws(JobError) -> [String: String] {
    var variables = ["TUREEN_JOB": claimed.attempt]
    guard Environment["TUREEN_STORE"] == nil else { return variables }
    variables["TUREEN_STORE"] = database.database.description
    do {
      if let secret = try database.connector.secret() { variables["TUREEN_STORE_PASSWORD"] = secret }
    } catch {
      throw JobError(.database, "\(error)")
    }
    return variables
  }
}

extension JobWorker {
  /// Makes a worker for the home, the database and the accounts that the settings lead to.
  /// - Throws: ``HostError`` `.invalidConfiguration`; ``JobError``.
  package convenience init(_ settings: WorkerSettings, tell: @escaping @Sendable (WorkerNews) -> Void) throws {
    let (settled, home) = try Host(settings: settings.host).settledSettings()
    let database = try JobDatabase(settled)
    var settings = settings
    if let seconds = settled.leaseSeconds { settings.claimMs = seconds * 1_000 }
    try self.init(
      settings, database, runner: HostRunner(settings, settled: settled, home: home, database), tell: tell)
  }
}
