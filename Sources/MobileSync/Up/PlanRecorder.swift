import JSON
import RestClient
import Synchronization

/// Notes what a planned run of a sync up would send, and what becomes of each entry. Threads: any; requests of one plan are noted
/// one after the other.
package final class PlanRecorder: Sendable {
  private struct State {
    var requests: [PlannedRequest] = []
    var purpose = RequestPurpose.look
    var records = 0
    var assigned: IdMap<String> = [:]
    var unknown: [String] = []
    var merged: [MergedKey: MergedEntry] = [:]
    var hasOpaqueRequests = false
    var items: [PlannedItem] = []
  }

  struct MergedKey: Hashable {
    let soup: String
    let entryId: Int64
  }

  /// An entry after the server's changes were merged in, and its base then.
  struct MergedEntry: Sendable {
    let entry: JSONObject
    let base: JSONObject
  }

  /// Whether looks and searches are sent.
  package let looks: Bool
  private let state = Mutex(State())

  package init(looks: Bool) { self.looks = looks }

  // MARK: Requests

  /// Notes a request.
  /// - Throws: ``UploadNotSent`` unless it may be sent.
  fileprivate func note(_ request: RestRequest, to server: String?) throws {
    let passes = state.withLock { state in
      state.requests.append(
        PlannedRequest(
          number: state.requests.count + 1, purpose: state.purpose, server: server, request: request, records: state.records))
      return looks && (state.purpose == .look || state.purpose == .search)
    }
    guard passes else { throw UploadNotSent(RequestPlanned()) }
  }

  func meet(_ request: RestRequest, to server: String?) throws { try note(request, to: server) }

  /// Says what the following requests are for.
  /// - Parameters:
  ///   - purpose: Their purpose.
  ///   - records: How many records each of them is about.
  /// - Returns: What was said before, for ``resume(_:)``.
  @discardableResult
  package func begin(_ purpose: RequestPurpose, records: Int) -> (RequestPurpose, Int) {
    state.withLock { state in
      defer { (state.purpose, state.records) = (purpose, records) }
      return (state.purpose, state.records)
    }
  }

  package func resume(_ before: (RequestPurpose, Int)) {
    state.withLock { ($0.purpose, $0.records) = before }
  }

  package var requests: [PlannedRequest] { state.withLock { $0.requests } }

  /// The number of the last request; 0 before the first one.
  package var lastNumber: Int { state.withLock { $0.requests.count } }

  /// Whether functions of a script make some of the requests, so that they are not known.
  package var hasOpaqueRequests: Bool { state.withLock { $0.hasOpaqueRequests } }

  /// Notes that functions of a script make the requests.
  package func noteOpaqueRequests() { state.withLock { $0.hasOpaqueRequests = true } }

  // MARK: Ids that only the server knows

  /// Stands for the id of a record that a request creates.
  package static func placeholder(_ request: Int) -> String { "«id of request \(request)»" }

  /// Notes which request creates the record of an entry.
  package func assign(_ localId: String, request: Int) {
    state.withLock { $0.assigned[localId] = PlanRecorder.placeholder(request) }
  }

  /// Returns what stands for the id of a record that the plan creates; nil if it creates none for this local id.
  package func assignedId(for localId: String) -> String? { state.withLock { $0.assigned[localId] } }

  // MARK: What is not known

  /// Adds what the plan does not know, in a sentence for people.
  package func note(unknown sentence: String) {
    state.withLock { if !$0.unknown.contains(sentence) { $0.unknown.append(sentence) } }
  }

  package var unknown: [String] { state.withLock { $0.unknown } }

  // MARK: Entries

  /// Keeps an entry as it is after the server's changes were merged in; the store keeps it as it was.
  func keep(_ entry: MergedEntry, of entryId: Int64, in soup: String) {
    state.withLock { $0.merged[MergedKey(soup: soup, entryId: entryId)] = entry }
  }

  func merged(_ entryId: Int64, in soup: String) -> MergedEntry? {
    state.withLock { $0.merged[MergedKey(soup: soup, entryId: entryId)] }
  }

  /// Replaces the bases of merged entries.
  func replaceBases(in bases: inout [Int64: JSONObject], of ids: [Int64], in soup: String) {
    for id in ids { if let merged = merged(id, in: soup) { bases[id] = merged.base } }
  }

  func add(_ item: PlannedItem) { state.withLock { $0.items.append(item) } }

  var items: [PlannedItem] { state.withLock { $0.items } }
}
