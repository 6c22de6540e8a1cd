import JSON
import RestClient
import SmartStore
import Synchronization
import TestSupport

@testable import MobileSync
@testable import Salesforce

/// A store with a manager for a scripted server.
final class ScriptedStore: Sendable {
  let store: Store
  private let folder: TemporaryFolder
  private let clients = Mutex<[(SyncManager, SalesforceClient)]>([])

  /// - Parameter bulkLoadMinimum: See ``TestEngine/store(at:bulkLoadMinimum:)``.
  init(bulkLoadMinimum: Int? = nil) throws {
    folder = try TemporaryFolder()
    store = try TestEngine.store(at: folder.path + "/test.sqlite", bulkLoadMinimum: bulkLoadMinimum)
    try store.registerSoup("accounts", indexSpecs: SyncBench.specs)
  }

  func manager(
    _ server: ScriptedServer, configuration: SyncConfiguration = SyncConfiguration(),
    transport: TransportConfiguration = TransportConfiguration()
  ) throws -> SyncManager {
    let session = Session(accessToken: "t", instanceURL: server.url, loginURL: server.url)
    let client = SalesforceClient(
      session: session, transport: HTTPTransport(transport), policy: .never, observer: SyncTrafficObserver())
    let manager = try SyncManager(store: store, client: client, configuration: configuration)
    clients.withLock { $0.append((manager, client)) }
    return manager
  }

  /// Returns all entries of the soup `accounts`.
  func entries() throws -> [JSONObject] {
    let text = try store.query(.smart("select {accounts:_soup} from {accounts}", pageSize: 10_000))
    return try JSONValue(parsing: text).arrayValue?.compactMap { $0.arrayValue?.first?.objectValue } ?? []
  }

  func close() async {
    for (manager, client) in clients.withLock({ $0 }) {
      await manager.shutdown()
      await client.shutdown()
    }
    store.close()
  }
}

extension ScriptedAnswer {
  /// Returns one page of a query.
  static func page(_ records: [(id: String, stamp: String)], date: String) -> ScriptedAnswer {
    let rows = records.map { record -> JSONValue in
      [
        "attributes": ["type": "Account"], "Id": .string(record.id), "Name": .string(record.id),
        "LastModifiedDate": .string(record.stamp),
      ]
    }
    let body: JSONValue = ["totalSize": .integer(Int64(rows.count)), "done": true, "records": .array(rows)]
    return .json(body.text, headers: [("Date", date)])
  }
}
