import RecordScan
import RestClient
import SmartStore

/// The store reads records where the transport put them.
extension ResponseBody: PageBytes {
  /// Valid for as long as the body lives: it never moves and never changes.
  package var bytes: UnsafeRawBufferPointer { withUnsafeBytes { $0 } }
}

extension PagePlan {
  /// Scans a page of a query or of a search.
  /// - Throws: `RestError` `.invalidBody` when it is no such page: HTML of a gateway, a body that was cut.
  package func scan(_ response: RestResponse, recordsKey: String = "records") throws -> ScannedPage {
    do {
      let page = try scan(
        response.body, recordsKey: recordsKey, envelopeKeys: [PageEnvelope.totalSize, PageEnvelope.nextPage])
      guard page.hasRecords else { throw response.invalidBody("the answer has no '\(recordsKey)'") }
      return page
    } catch let error as ScanError {
      throw response.invalidBody("\(error.message) at byte \(error.offset)")
    }
  }

  /// Scans text made here out of an answer: an array of records.
  package func scan(array text: [UInt8], of response: RestResponse) throws -> ScannedPage {
    do {
      return try scan(ByteArrayPage(text), recordsKey: nil)
    } catch let error as ScanError {
      throw response.invalidBody(error.message)
    }
  }
}

/// Members of a page beside its records, in the order they are asked for.
package enum PageEnvelope {
  package static let totalSize = "totalSize"
  package static let nextPage = "nextRecordsUrl"
}
