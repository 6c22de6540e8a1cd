/// What a sync does about a refusal.
enum RefusalAction: Sendable, Equatable {
  /// The object is gone, which was wanted.
  case done
  /// The request again, after a wait; of an internal error so many tries in all.
  case retry(attempts: Int)
  /// Read the object: it may be hidden, deleted, or there and not writable.
  case readBack
  /// Look for what was written: the server has seen the request, and may or may not have carried it out.
  case verify
  /// A record with the same unique value is on the server: adopt it or flag this one, as the target says.
  case duplicate
  /// The error goes to the record, which stays dirty and is not sent again before it is edited.
  case flag
  /// As ``flag``, and the field leaves the list of updates.
  case flagAndDropField
  /// The error belongs to a file of the record.
  case flagFile
  /// The whole sync ends, with nothing deleted because of it.
  case stop
  /// The whole sync rests for long.
  case pause
  /// The account must sign in; nothing is lost here.
  case signIn
  /// The application id or the keys are wrong.
  case checkKeys
  /// The class cannot be read: a lack of rights, never an empty class.
  case noPermission
}

/// What a request was about, as far as the treatment of its refusal depends on it.
enum RequestKind: Sendable, Equatable {
  case query, read, create, update, delete, logIn
  /// Of a file.
  case upload
  /// A batch as a whole.
  case batch

  fileprivate var isDown: Bool { self == .query || self == .read }
}

extension ServerRefusal {
  /// By the code first; by the status only without one.
  func action(for kind: RequestKind) -> RefusalAction {
    guard let code else { return actionByStatus(kind) }
    // Hooks use any number: an unknown one is theirs.
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

  /// Not there, not visible, or a wrong password: the server does not tell which.
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

  private func actionByStatus(_ kind: RequestKind) -> RefusalAction {
    switch status {
    // An item of a batch: an exception that nobody caught.
    case nil, 500: .retry(attempts: Tuning.internalErrorAttempts)
    // Also for calls that need the master key, which the engine never makes.
    case 401, 403: message.contains("master key") ? .stop : .checkKeys
    case 408, 425, 429, 502, 503, 504: .retry(attempts: Tuning.attempts)
    case 413: kind.isDown || kind == .batch ? .stop : .flag
    default: .stop
    }
  }

  /// Whether the refusal of a file is the trouble of the record that names it.
  var flagsFile: Bool {
    switch action(for: .upload) {
    case .flag, .flagFile, .flagAndDropField, .duplicate, .noPermission: true
    default: false
    }
  }

  /// Whether a smaller batch may pass: the server complains about the size of this one.
  var refusesSize: Bool {
    guard let status, (400..<500).contains(status), status != 429 else { return false }
    if status == 413 { return true }
    let text = message.lowercased()
    return text.contains("batch") && ["exceed", "limit", "too many", "too large"].contains { text.contains($0) }
  }
}
