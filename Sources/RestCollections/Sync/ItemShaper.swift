import JSON
import MobileSync
import RecordScan
import RestClient
import SmartStore

/// The records of a page in their final form.
struct ShapedRecords: Sendable {
  /// nil if the page has none.
  var records: ScannedPage?
  /// Ids of items that the transformation removed.
  var dropped: [String] = []
  /// Items that cannot be stored, because the transformation failed or the server refused their
  /// details; one sentence each.
  var flagged: [String] = []
  /// Marks of the items whose details arrived.
  var marks: [DetailMarks.Mark] = []
}

/// Converts a page's items to records.
struct ItemShaper: Sendable {
  let target: RestTarget
  let context: FetchContext
  let client: CollectionClient
  let marks: DetailMarks

  func records(of given: CollectionPage, _ response: ConnectionResponse) async throws -> ShapedRecords {
    guard !given.items.isEmpty else { return ShapedRecords() }
    if let records = given.untouchedRecords { return ShapedRecords(records: records) }
    var page = given, records = response.body.withUnsafeBytes { page.records(in: $0) }
    if target.detail != nil || target.isPartial {
      let completer = ItemCompleter(target: target, context: context, client: client, marks: marks)
      let completed = try await completer.complete(records.text(in: response.body), &page)
      var shaped = try await final(.text(completed.records), page, response)
      shaped.flagged = completed.flagged + shaped.flagged
      shaped.marks = completed.marks
      return shaped
    }
    return try await final(records, page, response)
  }

  /// Returns the records as the list has them, without details.
  /// - Parameter computes: Whether members are computed that a function of a script computes.
  func listed(_ page: CollectionPage, _ response: ConnectionResponse, computes: Bool) async throws -> ScannedPage? {
    guard !page.items.isEmpty else { return nil }
    if let records = page.untouchedRecords { return records }
    let records = response.body.withUnsafeBytes { page.records(in: $0) }
    return try await computes ? final(records, page, response).records : scan(records, response)
  }

  private func final(
    _ records: CollectionPage.RecordArray, _ page: CollectionPage, _ response: ConnectionResponse
  ) async throws -> ShapedRecords {
    guard !page.items.isEmpty else { return ShapedRecords() }
    guard let transform = target.transform else { return ShapedRecords(records: try scan(records, response)) }
    return try await ItemTransform(name: transform, context: context).records(records.text(in: response.body), of: page)
  }

  private func scan(_ records: CollectionPage.RecordArray, _ response: ConnectionResponse) throws -> ScannedPage {
    do {
      switch records {
      case .slice(let range): return try context.plan.scan(BodySlice(response.body, range), recordsKey: nil)
      case .text(let text): return try context.plan.scan(ByteArrayPage(text), recordsKey: nil)
      }
    } catch let error as ScanError {
      throw response.response.invalidBody(error.message)
    }
  }
}

extension CollectionPage.RecordArray {
  fileprivate func text(in body: ResponseBody) -> [UInt8] {
    switch self {
    case .text(let text): text
    case .slice(let range): body.withUnsafeBytes { Array($0[range]) }
    }
  }
}

/// A part of a response body, without copying.
final class BodySlice: PageBytes {
  private let body: ResponseBody
  private let range: Range<Int>

  init(_ body: ResponseBody, _ range: Range<Int>) {
    self.body = body
    self.range = range
  }

  /// Valid while the body lives, because it never moves and never changes.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: body.bytes[range]) }
}
