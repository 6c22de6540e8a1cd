import RestClient

/// What a run of a sync up does with its requests: it sends them, or it only notes them for a plan. The rest of the run is the
/// same code, so that a plan cannot differ from what is sent.
package enum UploadIntent: Sendable {
  case send
  case plan(PlanRecorder)

  /// The recorder of a run that is only planned; nil for one that sends.
  package var recorder: PlanRecorder? {
    if case .plan(let recorder) = self { recorder } else { nil }
  }

  /// Whether nothing is asked either, so that the server is assumed to have what it was last known to have.
  package var isQuiet: Bool { recorder.map { !$0.looks } ?? false }

  /// Lets a request out, or notes it. Each kind of server calls this at the one place where its requests leave.
  /// - Parameters:
  ///   - server: The name of the connection; nil for the org.
  /// - Throws: ``UploadNotSent`` with the cause ``RequestPlanned`` if the request was only noted.
  package func check(_ request: RestRequest, to server: String?) throws {
    try recorder?.meet(request, to: server)
  }
}

/// Why a request was not sent: the run is only planned, and has noted it.
package struct RequestPlanned: Error {
  package init() {}
}

extension Error {
  /// Whether a request was noted for a plan in place of being sent.
  package var isPlanned: Bool {
    switch self {
    case is RequestPlanned: true
    case let error as UploadNotSent: error.cause.isPlanned
    case let error as UploadCutShort: error.cause.isPlanned
    default: false
    }
  }
}

/// The purpose of a request.
package enum RequestPurpose: String, Sendable {
  /// Reads the server's versions of records before they are sent.
  case look
  /// Looks for the record of a create whose answer was lost, or for an equal one.
  case search
  case send
  /// Reads records after they were sent.
  case read
}

/// A request of a plan.
package struct PlannedRequest: Sendable {
  /// From 1, in the order of the run.
  package let number: Int
  package let purpose: RequestPurpose
  /// The connection; nil for the org.
  package let server: String?
  package let request: RestRequest
  /// How many records it is about; 0 if it is about none, such as the upload of a file.
  package let records: Int
}
