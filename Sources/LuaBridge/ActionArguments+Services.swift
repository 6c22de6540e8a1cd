// Made by scripts/dev/spec from bridge-spec/actions: change those, then run it.

extension KeyValueAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .clear: Rules.clear
    case .contains: Rules.contains
    case .count: Rules.count
    case .get: Rules.get
    case .keys: Rules.keys
    case .put: Rules.put
    case .remove: Rules.remove
    case .stores: Rules.stores
    }
  }

  private enum Rules {
    static let clear = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("name", .string),
    ])
    static let contains = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("name", .string),
      .required("key", .string),
    ])
    static let count = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("name", .string),
    ])
    static let get = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("name", .string),
      .required("key", .string),
    ])
    static let keys = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("name", .string),
      .optional("pattern", .string),
    ])
    static let put = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("name", .string),
      .required("key", .string),
      .required("value", .string),
      .optional("isBase64", .boolean),
    ])
    static let remove = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("name", .string),
      .required("key", .string),
    ])
    static let stores = ArgumentRules([.optional("isGlobalStore", .boolean), .optional("storeName", .string)])
  }
}

extension NetworkAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .sendRequest: Rules.sendRequest
    }
  }

  private enum Rules {
    static let sendRequest = ArgumentRules([
      .optional("endPoint", .string),
      .required("path", .string),
      .optional("method", .string),
      .optional("queryParams", .any),
      .optional("body", .any),
      .optional("headerParams", .anyObject),
      .optional("fileParams", .anyObject),
      .optional("returnBinary", .boolean),
      .optional("doesNotRequireAuthentication", .boolean),
      .optional("expects", .string),
      .optional("connection", .string),
      .optional("cache", .string),
      .optional("returnResponse", .boolean),
    ])
  }
}

extension OAuthAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .authenticate: Rules.authenticate
    case .getAppHomeUrl: Rules.getAppHomeUrl
    case .getAuthCredentials: Rules.getAuthCredentials
    case .logoutCurrentUser: Rules.logoutCurrentUser
    }
  }

  private enum Rules {
    static let authenticate = ArgumentRules([])
    static let getAppHomeUrl = ArgumentRules([])
    static let getAuthCredentials = ArgumentRules([])
    static let logoutCurrentUser = ArgumentRules([])
  }
}

extension AccountAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .getCurrentUser: Rules.getCurrentUser
    case .getUsers: Rules.getUsers
    case .logout: Rules.logout
    case .switchToUser: Rules.switchToUser
    }
  }

  private enum Rules {
    static let getCurrentUser = ArgumentRules([])
    static let getUsers = ArgumentRules([])
    static let logout = ArgumentRules([.optional("userId", .string), .optional("orgId", .string)], isOpen: true)
    static let switchToUser = ArgumentRules([.optional("userId", .string), .optional("orgId", .string)], isOpen: true)
  }
}

extension AccountsAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .cancelLogin: Rules.cancelLogin
    case .finishLogin: Rules.finishLogin
    case .getIdentity: Rules.getIdentity
    case .getOrgs: Rules.getOrgs
    case .getUsage: Rules.getUsage
    case .startLogin: Rules.startLogin
    }
  }

  private enum Rules {
    static let cancelLogin = ArgumentRules([.required("id", .string)])
    static let finishLogin = ArgumentRules([.required("id", .string), .optional("url", .string)])
    static let getIdentity = ArgumentRules([])
    static let getOrgs = ArgumentRules([])
    static let getUsage = ArgumentRules([])
    static let startLogin = ArgumentRules([
      .optional("org", .string),
      .optional("loginUrl", .string),
      .optional("clientId", .string),
      .optional("user", .string),
      .optional("redirectUri", .string),
      .optional("scope", .string),
      .optional("prompt", .string),
      .optional("listen", .boolean),
      .optional("newOrg", .boolean),
    ])
  }
}

extension SDKInfoAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .getInfo: Rules.getInfo
    case .registerAppFeature: Rules.registerAppFeature
    case .unregisterAppFeature: Rules.unregisterAppFeature
    }
  }

  private enum Rules {
    static let getInfo = ArgumentRules([])
    static let registerAppFeature = ArgumentRules([.required("feature", .string)])
    static let unregisterAppFeature = ArgumentRules([.required("feature", .string)])
  }
}

extension AssetAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .path: Rules.path
    }
  }

  private enum Rules {
    static let path = ArgumentRules([.required("url", .string), .optional("connection", .string)])
  }
}

extension ParseAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .currentUser: Rules.currentUser
    case .delete: Rules.delete
    case .fetch: Rules.fetch
    case .find: Rules.find
    case .findInSoup: Rules.findInSoup
    case .logIn: Rules.logIn
    case .logOut: Rules.logOut
    case .save: Rules.save
    case .signUp: Rules.signUp
    }
  }

  private enum Rules {
    static let currentUser = ArgumentRules([.required("connection", .string)])
    static let delete = ArgumentRules([
      .required("connection", .string),
      .required("className", .string),
      .required("objectId", .string),
    ])
    static let fetch = ArgumentRules([
      .required("connection", .string),
      .required("className", .string),
      .required("objectId", .string),
      .optional("include", .array(.string)),
      .optional("keys", .array(.string)),
    ])
    static let find = ArgumentRules([
      .required("connection", .string),
      .required("className", .string),
      .optional("where", .anyObject),
      .optional("order", .array(.string)),
      .optional("keys", .array(.string)),
      .optional("include", .array(.string)),
      .optional("limit", .integer),
      .optional("skip", .integer),
      .optional("count", .boolean),
      .optional("all", .boolean),
    ])
    static let findInSoup = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("className", .string),
      .required("places", .anyObject),
      .optional("where", .anyObject),
      .optional("order", .array(.string)),
      .optional("keys", .array(.string)),
      .optional("include", .array(.string)),
      .optional("limit", .integer),
      .optional("skip", .integer),
      .optional("count", .boolean),
    ])
    static let logIn = ArgumentRules([
      .required("connection", .string),
      .required("username", .string),
      .required("password", .string),
    ])
    static let logOut = ArgumentRules([.required("connection", .string)])
    static let save = ArgumentRules([
      .required("connection", .string),
      .required("objects", .array(.anyObject)),
      .optional("clientKeyField", .string),
    ])
    static let signUp = ArgumentRules([.required("connection", .string), .required("fields", .anyObject)])
  }
}

extension HostAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .doctor: Rules.doctor
    }
  }

  private enum Rules {
    static let doctor = ArgumentRules([.optional("offline", .boolean), .optional("deep", .boolean), .optional("fix", .boolean)])
  }
}
