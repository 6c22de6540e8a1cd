import Glibc
import JSON
import RestClient
import SmartStore
import Support
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections
@testable import Tureen

/// Row 32: files that the rows of a collection name.
@Suite(.timeLimit(.minutes(60))) struct AssetTests {
  /// A server with rows that name pictures, a store with a sync, and a clock that the test holds.
  private final class Bench: Sendable {
    let folder: TemporaryFolder
    let server: ScriptedServer
    let store: Store
    let connections: RestConnections
    let manager: SyncManager
    let clock: Clock
    let assets: AssetFolder

    final class Clock: Sendable {
      private let ms = Mutex<Int64>(1_700_000_000_000)
      var now: Int64 { ms.withLock { $0 } }
      func advance(hours: Int64) { ms.withLock { $0 += hours * 3_600_000 } }
    }

    /// - Parameters:
    ///   - pictures: The URL of each row's picture, or a path on the server.
    ///   - answer: To requests for pictures.
    init(
      _ pictures: [String], allowing origins: [String] = [], isOffline: Bool = false,
      answer: @escaping @Sendable (RecordedRequest) -> ScriptedAnswer
    ) async throws {
      let folder = try TemporaryFolder(), clock = Clock()
      let server = try ScriptedServer(handler: { request in
        guard request.path == "/rows" else { return answer(request) }
        let host = "http://" + (request.header("Host") ?? "")
        let rows = pictures.enumerated().map { i, picture in
          #"{"id":\#(i + 1),"owner":{"picture":"\#(picture.hasPrefix("/") ? host + picture : picture)"}}"#
        }
        return .json("[\(rows.joined(separator: ","))]")
      })
      let named = "{\"baseURL\":\"\(server.url)\",\"allowOrigins\":\(JSONValue.array(origins.map { .string($0) }).text)}"
      let settings = try ConnectionSettings.read(
        ["Api": try JSONValue(parsing: Array(named.utf8))], from: .init(folder: folder.path, allowsPlainSecrets: true))
      var environment = RestConnection.Environment(home: folder.path, secrets: ConnectionSecrets.reading)
      environment.isOffline = isOffline
      connections = RestConnections(settings, environment: environment)
      store = try Store(name: "test", isGlobal: false, path: folder.path + "/store.sqlite")
      try store.registerSoup("rows", indexSpecs: [IndexSpec(path: "id", type: .string)])
      var configuration = SyncConfiguration()
      configuration.now = { clock.now }
      assets = AssetFolder(home: folder.path)
      manager = try SyncManager(
        store: store, client: DeferredClient(apiVersion: "v66.0") { throw HostError(.noSuchOrg, "there is no org") },
        targets: TargetRegistry([RestSyncService(connections, assets: assets)]), configuration: configuration)
      (self.folder, self.server, self.clock) = (folder, server, clock)
    }

    static let target: JSONObject = [
      "type": "rest", "connection": "api", "url": "/rows", "assets": [["field": "owner.picture", "store": "files"]],
    ]

    func sync() async throws -> SyncState {
      if try manager.hasSyncWithName("s") { return try await manager.reSync(.name("s")) }
      return try await manager.syncDown(target: Self.target, soupName: "rows", syncName: "s")
    }

    /// The paths of pictures that were asked for, sorted.
    var asked: [String] { server.requests.map(\.path).filter { $0 != "/rows" }.sorted() }

    func path(_ picture: String) throws -> String? { try assets.find(server.url + picture, connection: nil)?.path }

    func close() async {
      await manager.shutdown()
      await connections.shutdown()
      store.close()
    }
  }

  private static let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0, 255]

  private static func picture(_ request: RecordedRequest) -> ScriptedAnswer {
    ScriptedAnswer(headers: [("Content-Type", "image/png")], body: png + Array(request.path.utf8))
  }

  @Test func assets_eachURL_isFetchedOnceAndKept() async throws {
    let bench = try await Bench(["/a", "/b", "/a", "/b", "/c"], answer: Self.picture)
    let first = try await bench.sync()
    #expect(first.status == .done && first.warnings.isEmpty, "\(first)")
    #expect(bench.asked == ["/a", "/b", "/c"])
    let path = try #require(try bench.path("/a"))
    #expect(FileSystem.read(path) == Self.png + Array("/a".utf8) && path.hasSuffix(".png"))
    #expect(try bench.assets.find(bench.server.url + "/a", connection: "API")?.contentType == "image/png")
    #expect(try bench.assets.find(bench.server.url + "/a", connection: "other") == nil)
    for (name, mode) in [
      (path, 0o600), (String(path.prefix { $0 != "." }) + ".json", 0o600), (bench.folder.path + "/assets/api", 0o700),
    ] {
      var info = stat()
      #expect(stat(name, &info) == 0 && Int(info.st_mode) & 0o777 == mode, "\(name)")
    }
    #expect(try await bench.sync().status == .done)
    #expect(bench.asked == ["/a", "/b", "/c"])
    #expect(try bench.assets.clear(nil) == 3 && bench.path("/a") == nil)
    #expect(try await bench.sync().status == .done)
    // The file comes from the response cache or the server; it is there again.
    #expect(try bench.path("/a") != nil)
    await bench.close()
  }

  @Test func assets_missingPicture_isRememberedForADay() async throws {
    let bench = try await Bench(["/gone", "/a"]) { $0.path == "/gone" ? .status(404) : Self.picture($0) }
    let first = try await bench.sync()
    #expect(first.status == .done && first.warnings.count == 1, "\(first)")
    #expect(first.warnings.first?.hasPrefix("1 of the files in 'owner.picture' could not be fetched") == true)
    #expect(try bench.path("/gone") == nil && bench.path("/a") != nil)
    bench.clock.advance(hours: 23)
    let second = try await bench.sync()
    #expect(second.status == .done && second.warnings.isEmpty && bench.asked == ["/a", "/gone"])
    bench.clock.advance(hours: 2)
    #expect(try await bench.sync().warnings.count == 1)
    #expect(bench.asked == ["/a", "/gone", "/gone"])
    await bench.close()
  }

  @Test func assets_otherOrigin_isAskedOnlyWhereAllowed() async throws {
    let other = try ScriptedServer(handler: Self.picture)
    let refused = try await Bench([other.url + "/x", "/a"], answer: Self.picture)
    let state = try await refused.sync()
    #expect(state.status == .done && other.requests.isEmpty && refused.asked == ["/a"])
    #expect(state.warnings.count == 1 && state.warnings[0].contains("allowOrigins"), "\(state.warnings)")
    await refused.close()
    let allowed = try await Bench([other.url + "/x"], allowing: [other.url], answer: Self.picture)
    #expect(try await allowed.sync().warnings.isEmpty)
    #expect(other.requests.count == 1)
    #expect(try allowed.assets.find(other.url + "/x", connection: nil) != nil)
    await allowed.close()
  }

  @Test func assets_serverGoesAway_syncEndsDoneAndNothingIsRemembered() async throws {
    let isUp = Mutex(false)
    let bench = try await Bench((0..<50).map { "/p\($0)" }) { request in
      isUp.withLock { $0 } ? Self.picture(request) : .closed
    }
    let first = try await bench.sync()
    #expect(first.status == .done && first.warnings.count == 1, "\(first)")
    #expect(first.warnings.first?.hasPrefix("not all files in 'owner.picture' were fetched") == true)
    // Only the requests in flight when the first one failed, each once.
    #expect(bench.asked.count <= 8)
    isUp.withLock { $0 = true }
    #expect(try await bench.sync().warnings.isEmpty)
    #expect(try bench.path("/p49") != nil)
    await bench.close()
  }

  @Test func assets_syncIsStopped_theRequestUnderWayIsAbandoned() async throws {
    let bench = try await Bench(["/slow"]) { _ in .never }
    let state = try bench.manager.createSyncDown(target: Bench.target, soupName: "rows", syncName: "s")
    let run = Task { try await bench.sync() }
    await bench.server.received(1) { $0.path == "/slow" }
    bench.manager.cancel(state.id)
    let ended = try await run.value
    #expect(ended.status == .stopped, "\(ended)")
    #expect(try bench.store.rows("SELECT count(*) FROM {rows}").contains("[1]"))
    #expect(try bench.assets.failure(bench.server.url + "/slow", "api") == nil)
    await bench.close()
  }

  @Test func assets_namesOfServers_neverLeadOutOfTheFolder() async throws {
    let bench = try await Bench(["/../../x.sh", "/a%2f..%2fb"]) { _ in
      ScriptedAnswer(headers: [("Content-Type", "image/../../png")], body: [1])
    }
    #expect(try await bench.sync().status == .done)
    let names = try FileSystem.entries(of: bench.folder.path + "/assets/api")
    #expect(
      names.count == 4 && names.allSatisfy { $0.prefix(40).allSatisfy(\.isHexDigit) && [40, 45].contains($0.count) }, "\(names)")
    await bench.close()
  }

  @Test func assets_fieldThatIsNotAPathOfSoups_isRefusedWhenTheTargetIsRead() throws {
    let service = RestSyncService(nil)
    var target = Bench.target
    target["assets"] = [["field": "links[rel=x].href", "store": "files"]]
    let error = #expect(throws: SyncError.self) { _ = try service.downKinds[0].make(target) }
    #expect(error?.message.contains("'assets' must be a path of members") == true)
  }

  @Test func offlineHost_sendsNothingAndKeepsTheRows() async throws {
    let bench = try await Bench(["/a"], isOffline: true, answer: Self.picture)
    let state = try await bench.sync()
    #expect(state.status == .failed && state.error.contains("no response is stored for"), "\(state)")
    #expect(bench.server.requests.isEmpty)
    await bench.close()
  }
}
