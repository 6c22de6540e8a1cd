/// How a sync reacts to a refusal.
enum RefusalAction: Sendable, Equatable {
  /// The object is gone, as intended, unless it is still readable.
  case done
  /// Wait, then repeat the request, up to this number of attempts in all.
  case retry(attempts: Int)
  /// Read the object: it may be hidden, deleted, or present but not writable.
  case readBack
  /// Look for the written object: the server has seen the request, and may or may not have executed
  /// it.
  case verify
  /// The server has a record with the same unique value: adopt it or flag this one, as the target's
  /// settings say.
  case duplicate
  /// Store the error in the record, which stays dirty and is not sent again until it is edited.
  case flag
  /// Like ``flag``, and also stop sending the field in updates.
  case flagAndDropField
  /// The error concerns a file of the record.
  case flagFile
  /// End the whole sync, without deleting anything because of it.
  case stop
  /// Suspend the whole sync for a longer time.
  case pause
  /// The account must sign in again; no local changes are lost.
  case signIn
  /// The application id or the keys are wrong.
  case checkKeys
  /// The class is not readable because of missing permissions, which does not mean that it is
  /// empty.
  case noPermission
}

/// The kind of a request, as far as the reaction to its refusal depends on it.
enum RequestKind: Sendable, Equatable {
  case query, read, create, update, delete, logIn
  /// The upload of a file.
  case upload
  /// A batch as a whole.
  case batch

  fileprivate var isDown: Bool { self == .query || self == .read }
}

extension ServerRefusal {
  /// Returns the reaction: by the error code, or by the status if there is no code.
  func action(for kind: RequestKind) -> RefusalAction {
    guard let code else { return actionByStatus(kind) }
    // Hooks may use any number, so an unknown code is theirs.
    guard let known = ServerCode(rawValue: code) else { return kind.isDown ? .stop : .flag }
    switch known {
    case .internalError: return .retry(attempts: Tuning.internalErrorAttempts)
    case .serviceUnavailable, .clientDisconnected, .connectionFailed, .timeout, .transactionClash:
      return .retry(attempts: Tuning.attempts)
    case .objectNotFound: return notFound(kind)
    case .operationForbidden: return kind == .query ? .noPermission : kind == .read ? .stop : .flag
    case .invalidQuery, .invalidKeyName, .invalidPointer, .invalidJSON, .commandUnavailable, .invalidNestedKey:
      return kind.isDown ? .stop : .flag
    case .invalidClassName, .missingObjectId: return .stop
    case .immutableField: return .flagAndDropField
    case .duplicateValue: return .duplicate
    case .exceededQuota, .requestLimitExceeded: return .pause
    case .invalidFileName, .fileTooLarge, .fileSaveError, .fileDeleteError: return .flagFile
    case .duplicateRequest: return .verify
    case .sessionMissing, .invalidSessionToken: return .signIn
    case .incorrectType, .objectTooLarge, .invalidACL, .invalidEmail, .missingField, .scriptFailed, .validationFailed,
      .usernameMissing, .passwordMissing, .usernameTaken, .emailTaken, .emailMissing, .emailNotFound, .linkedAccount,
      .accountTrouble:
      return kind.isDown ? .stop : .flag
    }
  }

  /// Handles code 101: the object is missing or hidden, or the password is wrong. The server does
  /// not say which.
  private func notFound(_ kind: RequestKind) -> RefusalAction {
    switch kind {
    case .delete: .done
    case .query: .noPermission
    case .logIn: .signIn
    case .upload: .flag
    case .read, .create, .update: message.hasPrefix("Permission denied") ? .noPermission : kind == .create ? .flag : .readBack
    case .batch: .stop
    }
  }

  /// The refusal of a delete with an error that says that the object does not exist, although it does.
  var ofKeptObject: ServerRefusal {
    ServerRefusal(
      status: status, code: code, message: "the object is not deleted: it is readable, but may not be deleted (\(message))")
  }

  /// The refusal of a link with an error that says that its owner does not exist, although it does.
  var ofKeptOwner: ServerRefusal {
    ServerRefusal(status: status, code: code, message: "its owner is readable, but may not be changed (\(message))")
  }

  private func actionByStatus(_ kind: RequestKind) -> RefusalAction {
    switch status {
    // An item of a batch that failed with an uncaught exception.
    case nil, 500: .retry(attempts: Tuning.internalErrorAttempts)
    // Also the status of calls that need the master key, which the engine never makes.
    case 401, 403: message.contains("master key") ? .stop : .checkKeys
    case 408, 425, 429, 502, 503, 504: .retry(attempts: Tuning.attempts)
    case 413: kind.isDown || kind == .batch ? .stop : .flag
    default: .stop
    }
  }

  /// Whether the refusal of a file is a problem of the record that refers to it.
  var flagsFile: Bool {
    switch action(for: .upload) {
    case .flag, .flagFile, .flagAndDropField, .duplicate, .noPermission: true
    default: false
    }
  }

  /// Whether the server complains about the size of a batch, so that a smaller one may succeed.
  var refusesSize: Bool {
    guard let status, (400..<500).contains(status), status != 429 else { return false }
    if status == 413 { return true }
    let text = message.lowercased()
    return text.contains("batch") && ["exceed", "limit", "too many", "too large"].contains { text.contains($0) }
  }
}
