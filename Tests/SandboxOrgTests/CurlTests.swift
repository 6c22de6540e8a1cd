import Foundation
import SandboxOrg
import Testing

/// What a person types: only curl, against the served org.
@Suite struct CurlTests {
  @Test func curl_signInQueryPageCreateUpdateDelete_works() async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .custom(accounts: 2, contacts: 12)
    configuration.pageSize = 5
    let server = try await SandboxServer.start(configuration)
    let secrets = server.credentials()
    let output = try await shell(
      Self.script,
      [
        "URL": server.url, "CLIENT": secrets.clientId, "SECRET": secrets.clientSecret, "NAME": secrets.username,
        "PASSWORD": secrets.password,
      ])
    await server.stop()
    #expect(
      output.components(separatedBy: "\n") == [
        "page 1: 5 of 12", "page 2: 5 of 12", "page 3: 2 of 12", "created 201", "updated 204", "name Grace Hopper", "deleted 204",
        "gone 404 ENTITY_IS_DELETED", "",
      ])
  }

  private static let script = #"""
    set -eu
    field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }
    token=$(curl -s "$URL/services/oauth2/token" -d grant_type=password -d client_id="$CLIENT" -d client_secret="$SECRET" \
      -d username="$NAME" -d password="$PASSWORD" | field access_token)
    get() { curl -s -H "Authorization: Bearer $token" "$@"; }
    data="$URL/services/data/v66.0"
    page=$(get -G "$data/query" --data-urlencode "q=SELECT Id, Name FROM Contact ORDER BY LastModifiedDate")
    number=1
    while :; do
      total=$(printf %s "$page" | sed -n 's/.*"totalSize":\([0-9]*\).*/\1/p')
      echo "page $number: $(printf %s "$page" | grep -o '"attributes"' | wc -l | tr -d ' ') of $total"
      next=$(printf %s "$page" | field nextRecordsUrl)
      [ -n "$next" ] || break
      page=$(get "$URL$next")
      number=$((number + 1))
    done
    json="Content-Type: application/json"
    made=$(get -w ' %{http_code}' -H "$json" "$data/sobjects/Contact" -d '{"LastName":"Hopper"}')
    echo "created ${made##* }"
    id=$(printf %s "$made" | field id)
    echo "updated $(get -o /dev/null -w '%{http_code}' -X PATCH -H "$json" "$data/sobjects/Contact/$id" -d '{"FirstName":"Grace"}')"
    echo "name $(get "$data/sobjects/Contact/$id?fields=Name" | field Name)"
    echo "deleted $(get -o /dev/null -w '%{http_code}' -X DELETE "$data/sobjects/Contact/$id")"
    gone=$(get -w ' %{http_code}' "$data/sobjects/Contact/$id")
    echo "gone ${gone##* } $(printf %s "$gone" | field errorCode)"
    """#
}
