import SmartStore
import Synchronization

/// The hosts of a worker: one for each user while jobs of that user run, so that a worker for many users does not keep
/// connections for all of them.
final class WorkerHosts: Sendable {
  private struct Entry {
    let host: Host
    var uses = 1
  }

  private let entries = Mutex<[WorkerAccounts.Key: Entry]>([:])

  /// Returns the user's host, which stays open until each use is released.
  func use(_ key: WorkerAccounts.Key, _ settings: HostSettings) -> Host {
    entries.withLock { entries in
      if let known = entries[key] {
        entries[key]?.uses += 1
        return known.host
      }
      var settings = settings
      settings.actor = HistoryActor(.job)
      let host = Host(settings: settings)
      entries[key] = Entry(host: host)
      return host
    }
  }

  /// Ends a use. The last one closes the host, and blocks until it is closed.
  func release(_ key: WorkerAccounts.Key) {
    let unused: Host? = entries.withLock { entries in
      guard let entry = entries[key] else { return nil }
      guard entry.uses == 1 else {
        entries[key]?.uses -= 1
        return nil
      }
      entries[key] = nil
      return entry.host
    }
    unused?.shutdown()
  }
}
