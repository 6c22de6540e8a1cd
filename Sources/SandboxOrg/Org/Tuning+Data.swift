/// Limits of describe, replication, layouts, briefcases, and files of schemas and seeds.
extension Tuning {
  /// Days that getUpdated() and getDeleted() look back; Salesforce's values.
  static let updatedDays = 30, deletedDays = 15
  /// Maximum ids in one response of either; Salesforce's value.
  static let changedIds = 600_000
  /// Fields of a compact layout: the name and those that identify a record at a glance.
  static let compactFields = 5
  /// Maximum records of a briefcase rule. Salesforce recommends 500; tests need more.
  static let briefcaseRecords = 50_000
  /// Parent ids in one statement for related records; keeps it far below the maximum length.
  static let briefcaseParents = 500
  /// Rows of a list view's page.
  static let listViewRows = 2_000
  /// Fields that a schema file can add to an object (Salesforce's value); SQLite supports 2,000
  /// columns.
  static let customFields = 800
  /// Fields of an object from a describe file: an address alone has nine columns, and SQLite
  /// supports 2,000.
  static let describedFields = 1_500
  /// Bytes of a schema file: enough for a thousand objects with a hundred fields each.
  static let schemaFileBytes = 16 * 1024 * 1024
  /// Bytes of a record in a seed file: a file of 37 MB in base64, with other fields.
  static let seedRecordBytes = 64 * 1024 * 1024
}
