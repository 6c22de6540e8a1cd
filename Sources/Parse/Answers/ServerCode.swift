/// Error codes of Parse Server that a sync handles specifically. Other codes come from cloud code,
/// which may use any number.
enum ServerCode: Int, Sendable, CaseIterable {
  case internalError = 1, serviceUnavailable = 2, clientDisconnected = 4
  case connectionFailed = 100, objectNotFound, invalidQuery, invalidClassName, missingObjectId, invalidKeyName, invalidPointer
  case invalidJSON = 107, commandUnavailable = 108
  case incorrectType = 111, objectTooLarge = 116, operationForbidden = 119
  case invalidNestedKey = 121, invalidFileName, invalidACL, timeout, invalidEmail
  case fileTooLarge = 129, fileSaveError = 130
  case missingField = 135, immutableField, duplicateValue
  case exceededQuota = 140, scriptFailed, validationFailed
  case fileDeleteError = 153, requestLimitExceeded = 155, duplicateRequest = 159
  case usernameMissing = 200, passwordMissing, usernameTaken, emailTaken, emailMissing, emailNotFound
  case sessionMissing = 206, invalidSessionToken = 209
  case transactionClash = 251, linkedAccount, accountTrouble
}
