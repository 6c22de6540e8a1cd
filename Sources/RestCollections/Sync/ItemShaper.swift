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
  /// Items for which the transformation failed, one sentence each.
  var flagged: [String] = []
}

/// Converts a page's items to records.
struct ItemShaper: Sendable {
  let target: RestTarget
  let context: FetchContext
  let client: CollectionClient

  func records(of given: CollectionPage, _ response: ConnectionResponse) async throws -> ShapedRecords {
    guard !given.items.isEmpty else { return ShapedRecords() }
    if let records = given.untouchedRecords { return ShapedRecords(records: records) }
    var page = given, records = response.body.withUnsafeBytes { page.records(in: $0) }
    if target.detail != nil || target.isPartial {
      let completer = ItemCompleter(target: target, context: context, client: client)
      records = .text(try await completer.complete(records.text(in: response.body), &page))
      guard !page.items.isEmpty else { return ShapedRecords() }
    }
    if let transform = target.transform {
      return try await ItemTransform(name: transform, context: context).records(records.text(in: response.body), of: page)
    }
    return ShapedRecords(records: try scan(records, response))
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
