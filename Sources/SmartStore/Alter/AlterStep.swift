/// The steps of rebuilding a soup, with the names that the Mobile SDK stores in
/// `long_operations_status`.
package enum AlterStep: String, CaseIterable, Sendable {
  case starting = "STARTING"
  case renameOldSoupTable = "RENAME_OLD_SOUP_TABLE"
  case dropOldIndexes = "DROP_OLD_INDEXES"
  case registerSoupUsingTableName = "REGISTER_SOUP_USING_TABLE_NAME"
  case copyTable = "COPY_TABLE"
  case reIndexSoup = "RE_INDEX_SOUP"
  case dropOldTable = "DROP_OLD_TABLE"
}
