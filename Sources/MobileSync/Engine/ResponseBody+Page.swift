import RecordScan
import RestClient
import SmartStore

/// The store reads records where the transport put them.
extension ResponseBody: PageBytes {
  /// Valid for as long as the body lives: it never moves and never changes.
  package var bytes: UnsafeRawBufferPointer { withUnsafeBytes { $0 } }
}

extension PagePlan {
  /// Scans a page of a query.
  /// - Throws: `RestError` `.invalidBody` when it is no such page: HTML of a gateway, a body that was cut.
  func scan(_ response: RestResponse) throws -> ScannedPage {
    do {
      let page = try scan(
        response.body, recordsKey: "records", envelopeKeys: [PageEnvelope.totalSize, PageEnvelope.nextPage])
      guard page.hasRecords else { throw response.invalidBody("the answer to a query has no 'records'") }
      return page
    } catch let error as ScanError {
      throw response.invalidBody("\(error.message) at byte \(error.offset)")
    }
  }
}

/// Members of a page beside its records, in the order they are asked for.
enum PageEnvelope {
  static let totalSize = "totalSize"
  static let nextPage = "nextRecordsUrl"
}
