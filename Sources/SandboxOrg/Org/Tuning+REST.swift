/// Limits of the composite resources. All are Salesforce's own figures.
extension Tuning {
  /// Requests inside one composite or batch call; of a composite's, those that query or work on collections.
  static let subrequests = 25, queriesPerComposite = 5
  /// Runs of records of one type in one collection write.
  static let collectionChunks = 10
  /// Records, levels and object types of one tree.
  static let treeRecords = 200, treeLevels = 5, treeTypes = 5
  /// Graphs in one call, requests in all of them, and failed graphs after which the rest is not tried.
  static let graphs = 75, graphRequests = 500, failedGraphs = 14
}

/// Limits of bulk jobs.
extension Tuning {
  /// Bytes of a stored part of a job's input; a multiple of 8, the size of a row number.
  static let bulkPartBytes = 256 * 1024
  /// Bytes of input one slice of work reads, and so of one record. Salesforce takes 400,000 characters.
  static let bulkWindowBytes = 512 * 1024
  /// Records written, and rows rendered, in one slice: other requests wait meanwhile, some 20 ms.
  static let bulkRecordsPerSlice = 200, bulkRowsPerSlice = 2_000
  /// Records in one answer of a query job's results.
  static let bulkResultRecords = 50_000
  /// Bytes of a batch of Bulk API 1.0, Salesforce's own figure.
  static let asyncBatchBytes = 10_000_000
  /// Parts of a result told of in one answer, Salesforce's own figure.
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
}
