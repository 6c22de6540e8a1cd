import JSON
import SandboxServer

/// Renders records for clients.
struct ForgeRenderer {
  let call: ForgeCall
  let accounts: [Account]

  init(_ call: ForgeCall, _ state: ForgeState) {
    self.call = call
    accounts = state.accounts
  }

  private var base: String { call.base }
  private func owner(_ repository: Repository) -> Account? { accounts.first { $0.id == repository.ownerId } }
  func path(_ repository: Repository) -> String { "/repos/\(owner(repository)?.login ?? "")/\(repository.name)" }

  private static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
  /// An opaque text, like GitHub's node ids.
  private static func nodeId(_ kind: String, _ id: Int64) -> JSONValue { .string("\(kind)_\(String(id, radix: 36))") }

  // MARK: Accounts

  /// Returns the short form that other records embed.
  func account(_ account: Account) -> JSONValue {
    let url = "\(base)/users/\(account.login)"
    return [
      "login": .string(account.login), "id": .integer(account.id), "node_id": Self.nodeId("U", account.id),
      "avatar_url": .string("\(base)/avatars/u/\(account.id)?v=4"), "gravatar_id": "", "url": .string(url),
      "html_url": .string("\(call.request.origin)/\(account.login)"), "repos_url": .string("\(url)/repos"),
      "type": account.isOrganization ? "Organization" : "User", "site_admin": false,
    ]
  }

  func account(login: String) -> JSONValue { accounts.first { $0.login == login }.map(account) ?? .null }

  func wholeAccount(_ account: Account, repositories: Int) -> JSONValue {
    var object = self.account(account).objectValue ?? [:]
    object["name"] = .string(account.name)
    object["company"] = .null
    object["blog"] = ""
    object["email"] = .null
    object["bio"] = .null
    object["public_repos"] = .integer(Int64(repositories))
    object["followers"] = 0
    object["following"] = 0
    object["created_at"] = ForgeTime.text(account.createdAt)
    object["updated_at"] = ForgeTime.text(account.updatedAt)
    return .object(object)
  }

  func organization(_ account: Account, repositories: Int) -> JSONValue {
    var object = wholeAccount(account, repositories: repositories).objectValue ?? [:]
    let url = "\(base)/orgs/\(account.login)"
    object["url"] = .string(url)
    object["repos_url"] = .string("\(url)/repos")
    object["description"] = .string("\(account.name) publishes its work here.")
    return .object(object)
  }

  // MARK: Repositories

  func repository(_ repository: Repository) -> JSONValue {
    let owner = owner(repository)
    let fullName = "\(owner?.login ?? "")/\(repository.name)"
    let url = base + path(repository)
    let mayWrite = call.caller.map { $0.id == repository.ownerId + 100 } ?? false
    var object: JSONObject = [
      "id": .integer(repository.id), "node_id": Self.nodeId("R", repository.id), "name": .string(repository.name),
      "full_name": .string(fullName), "private": .bool(repository.isPrivate), "owner": owner.map(account) ?? .null,
      "html_url": .string("\(call.request.origin)/\(fullName)"), "description": Self.text(repository.description),
      "fork": .bool(repository.isFork), "url": .string(url), "issues_url": .string("\(url)/issues{/number}"),
      "comments_url": .string("\(url)/comments{/number}"), "created_at": ForgeTime.text(repository.createdAt),
      "updated_at": ForgeTime.text(repository.updatedAt), "pushed_at": ForgeTime.text(repository.pushedAt),
      "homepage": Self.text(repository.homepage), "size": .integer(repository.size),
      "stargazers_count": .integer(repository.stars), "watchers_count": .integer(repository.stars),
      "language": Self.text(repository.language), "has_issues": .bool(repository.hasIssues), "has_projects": false,
    ]
    let rest: JSONObject = [
      "has_downloads": true, "has_wiki": .bool(repository.hasWiki), "has_pages": false, "has_discussions": false,
      "forks_count": .integer(repository.forks), "mirror_url": .null, "archived": .bool(repository.isArchived),
      "disabled": false, "open_issues_count": .integer(repository.openIssues), "license": .null, "allow_forking": true,
      "is_template": false, "topics": .array(repository.topics.map { .string($0) }),
      "visibility": repository.isPrivate ? "private" : "public", "forks": .integer(repository.forks),
      "open_issues": .integer(repository.openIssues), "watchers": .integer(repository.stars),
      "default_branch": .string(repository.defaultBranch),
      "permissions": ["admin": .bool(mayWrite), "push": .bool(mayWrite), "pull": true],
    ]
    for (name, value) in rest { object[name] = value }
    return .object(object)
  }

  // MARK: Issues

  func issue(_ issue: Issue, in repository: Repository) -> JSONValue {
    let home = base + path(repository), url = "\(home)/issues/\(issue.number)"
    let page = "\(call.request.origin)/\(owner(repository)?.login ?? "")/\(repository.name)"
    var object: JSONObject = [
      "url": .string(url), "repository_url": .string(home), "comments_url": .string("\(url)/comments"),
      "html_url": .string("\(page)/\(issue.isPullRequest ? "pull" : "issues")/\(issue.number)"), "id": .integer(issue.id),
      "node_id": Self.nodeId("I", issue.id), "number": .integer(issue.number), "title": .string(issue.title),
      "user": account(login: issue.author), "labels": .array(issue.labels.map { label($0, home) }),
      "state": issue.isOpen ? "open" : "closed", "locked": false,
      "assignee": issue.assignees.first.map { account(login: $0) } ?? .null,
      "assignees": .array(issue.assignees.map { account(login: $0) }), "milestone": .null,
      "comments": .integer(issue.comments), "created_at": ForgeTime.text(issue.createdAt),
      "updated_at": ForgeTime.text(issue.updatedAt), "closed_at": issue.closedAt.map { ForgeTime.text($0) } ?? .null,
      "author_association": "MEMBER", "body": Self.text(issue.body), "state_reason": Self.text(issue.stateReason),
    ]
    if issue.isPullRequest {
      object["draft"] = false
      object["pull_request"] = [
        "url": .string("\(home)/pulls/\(issue.number)"), "html_url": .string("\(page)/pull/\(issue.number)"),
      ]
    }
    return .object(object)
  }

  private func label(_ name: String, _ home: String) -> JSONValue {
    let id = Int64(ForgeSeed.labels.firstIndex(of: name) ?? 99) + 208_045_946
    return [
      "id": .integer(id), "node_id": Self.nodeId("L", id), "url": .string("\(home)/labels/\(URLCoding.escaped(name))"),
      "name": .string(name), "color": "d73a4a", "default": .bool(ForgeSeed.labels.contains(name)), "description": .null,
    ]
  }

  func comment(_ comment: Comment, in repository: Repository) -> JSONValue {
    let home = base + path(repository)
    return [
      "id": .integer(comment.id), "node_id": Self.nodeId("C", comment.id),
      "url": .string("\(home)/issues/comments/\(comment.id)"),
      "html_url": .string("\(home)/issues/\(comment.number)#issuecomment-\(comment.id)"),
      "issue_url": .string("\(home)/issues/\(comment.number)"), "user": account(login: comment.author),
      "body": .string(comment.body), "created_at": ForgeTime.text(comment.createdAt),
      "updated_at": ForgeTime.text(comment.updatedAt), "author_association": "MEMBER",
    ]
  }
}
