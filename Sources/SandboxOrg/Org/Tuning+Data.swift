/// Limits of describe, replication, layouts, briefcases and files of schemas and seeds.
extension Tuning {
  /// Days getUpdated() and getDeleted() look back, Salesforce's own figures.
  static let updatedDays = 30, deletedDays = 15
  /// Ids in one answer of either, Salesforce's own figure.
  static let changedIds = 600_000
  /// Fields of a compact layout: the name and what identifies a record at a glance.
  static let compactFields = 5
  /// Records one briefcase rule brings at most. Salesforce recommends 500; tests want more.
  static let briefcaseRecords = 50_000
  /// Ids in one statement that looks for related records: keeps it far below the longest statement allowed.
  static let briefcaseParents = 500
  /// Rows of a list view's page.
  static let listViewRows = 2_000
  /// Fields a schema file adds to one object, Salesforce's own figure; SQLite's columns end at 2,000.
  static let customFields = 800
  /// Fields of an object that is described: an address alone has nine columns, and SQLite's end at 2,000.
  static let describedFields = 1_500
  /// Bytes of a schema file: a thousand objects with a hundred fields.
  static let schemaFileBytes = 16 * 1024 * 1024
  /// Bytes of one record in a seed file: a file of 37 MB in base64 and its fields.
  static let seedRecordBytes = 64 * 1024 * 1024
}
