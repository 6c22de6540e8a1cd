import JSON
import Tureen

/// The page of `tureen inspect`, served to this machine until ``stop()``.
package final class Inspector: Sendable {
  private let server: LoopbackServer
  private let service: InspectorService
  private let watch: HomeWatch
  private let workers: Workers
  private let looking: ActionCalls
  private let writing: WritingAPI?
  /// The address for a person, with the token in the fragment, which browsers send nowhere.
  package let url: String
  package var port: Int { server.port }

  private init(
    _ server: LoopbackServer, _ service: InspectorService, _ watch: HomeWatch, _ workers: Workers, _ looking: ActionCalls,
    _ writing: WritingAPI?, token: String
  ) {
    self.server = server
    self.service = service
    self.watch = watch
    self.workers = workers
    self.looking = looking
    self.writing = writing
    url = "http://127.0.0.1:\(server.port)/#t=\(token)"
  }

  /// - Parameters:
  ///   - settings: Of the hosts of the home.
  ///   - port: 0 for one that is free.
  ///   - writes: Whether the page may change data.
  ///   - options: The options that the commands of the page need to find the same home, quoted for a shell.
  ///   - queryMs: How long a query of the page may take, in milliseconds; nil for the usual limit.
  /// - Throws: ``HostError`` `.portInUse`.
  package static func start(
    _ settings: HostSettings, port: Int, writes: Bool, options: [String] = [], queryMs: Int? = nil
  ) throws(HostError) -> Inspector {
    var toLook = settings, toWrite = settings
    (toLook.looksOnly, toWrite.looksOnly) = (true, false)
    let looking = ActionCalls(toLook), workers = Workers(),
      api = InspectorAPI(looking: looking, canWrite: writes, queryMs: queryMs ?? Limits.queryMs, options: options)
    let writing = writes ? WritingAPI(toWrite, api) : nil
    let service = InspectorService(api, writing, workers)
    let server = try LoopbackServer.start(
      service, port: port,
      limits: LoopbackServer.Limits(
        requestBytes: Limits.requestBytes, connections: Limits.connections, requestMs: Limits.requestMs),
      remedy: "end the program that has it, or leave --port out for a free one")
    let watch = HomeWatch(looking) { kind, data in server.perform { service.send(kind, data) } }
    watch.start()
    return Inspector(server, service, watch, workers, looking, writing, token: service.begin(on: server, watch))
  }

  /// Sends an event to all pages.
  func send(_ kind: String, _ data: JSONObject) { server.perform { [service] in service.send(kind, data) } }

  /// Ends the syncs that the page has started, and frees the port.
  package func stop() async {
    writing?.close()
    watch.close()
    await server.close()
    workers.close()
    looking.close()
  }
}
