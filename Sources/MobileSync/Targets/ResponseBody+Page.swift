import RecordScan
import RestClient
import SmartStore

/// Lets the store read records from the memory of the transport.
extension ResponseBody: PageBytes {
  /// Valid for as long as the body lives: it never moves or changes.
  package var bytes: UnsafeRawBufferPointer { withUnsafeBytes { $0 } }
}

extension PagePlan {
  /// Scans a page of a query or a search.
  /// - Throws: `RestError` `.invalidBody` for anything else, such as HTML of a gateway or a
  ///   truncated body.
  package func scan(_ response: RestResponse, recordsKey: String = "records") throws -> ScannedPage {
    do {
      let page = try scan(
        response.body, recordsKey: recordsKey, envelopeKeys: [PageEnvelope.totalSize, PageEnvelope.nextPage, PageEnvelope.done])
      guard page.hasRecords else { throw response.invalidBody("the answer has no '\(recordsKey)'") }
      return page
    } catch let error as ScanError {
      throw response.invalidBody("\(error.message) at byte \(error.offset)")
    }
  }

  /// Scans an array of records that was extracted from an answer.
  package func scan(array text: [UInt8], of response: RestResponse) throws -> ScannedPage {
    do {
      return try scan(ByteArrayPage(text), recordsKey: nil)
    } catch let error as ScanError {
      throw response.invalidBody(error.message)
    }
  }
}

/// Members of a page besides its records, in the order in which they are requested.
package enum PageEnvelope {
  package static let totalSize = "totalSize"
  package static let nextPage = "nextRecordsUrl"
  package static let done = "done"
}
