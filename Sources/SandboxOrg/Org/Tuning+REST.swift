/// Limits of the composite resources. All are Salesforce's.
extension Tuning {
  /// Requests in a composite or batch call, and how many of a composite's may be queries or
  /// collections.
  static let subrequests = 25, queriesPerComposite = 5
  /// Chunks of consecutive records of one type in a collection write.
  static let collectionChunks = 10
  /// Records, levels and object types of a tree.
  static let treeRecords = 200, treeLevels = 5, treeTypes = 5
  /// Graphs in a call, requests in all of them, and failed graphs after which the rest is skipped.
  static let graphs = 75, graphRequests = 500, failedGraphs = 14
}

/// Limits of bulk jobs.
extension Tuning {
  /// Bytes of each stored part of a job's input; a multiple of 8, the size of a row number.
  static let bulkPartBytes = 256 * 1024
  /// Bytes of input read per slice, which also limits a record. Salesforce accepts 400,000
  /// characters.
  static let bulkWindowBytes = 512 * 1024
  /// Records written and rows rendered per slice; other requests wait about 20 ms meanwhile.
  static let bulkRecordsPerSlice = 200, bulkRowsPerSlice = 2_000
  /// Records in one response with a query job's results.
  static let bulkResultRecords = 50_000
  /// Bytes of a batch of Bulk API 1.0; Salesforce's value.
  static let asyncBatchBytes = 10_000_000
  /// Result parts listed in one response; Salesforce's value.
  static let bulkResultPages = 5
  /// Jobs in one page of a list.
  static let bulkJobsPerPage = 1_000
}

/// Limits of notifications and of the org's own code.
extension Tuning {
  /// Notifications kept in memory, those in a page of a list, and in the largest one.
  static let notifications = 1_000, notificationsPerPage = 10, notificationsPerList = 50
  /// Records the org's own code lists.
  static let apexListRecords = 2_000
  /// Rows that the queries of one Apex request may find together: Salesforce's limit for a transaction.
  static let apexQueryRows = 50_000
}
