import RestClient

/// The client of a run: forwards requests, and reads the server's clock and limits from the
/// answers.
struct RunClient: RestClient {
  let client: any RestClient
  let service: any SyncService
  let meter: RequestMeter
  let clock: ServerClock
  var intent = UploadIntent.send

  var apiVersion: String { client.apiVersion }

  func send(_ request: RestRequest) async throws -> RestResponse {
    try intent.check(request, to: nil)
    let response = try await clock.reading { try await client.send(request) }
    if let limitInfo = service.limitInfo(response) { meter.note(limitInfo: limitInfo) }
    return response
  }

  func shutdown() async { await client.shutdown() }
}
