import Foundation
import Glibc
import Testing

/// Tests `tureen sandbox` with plain `curl`, as any other client would use it.
@Suite struct CurlSessionTests {
  /// Prints `name=value` lines. The variables come from the block that `tureen sandbox` prints.
  private static let session = #"""
    set -eu
    member() { sed -n "s/.*\"$1\" *: *\"\{0,1\}\([^\",}]*\)\"\{0,1\}.*/\1/p" | head -1; }
    token=$(curl -fsS "$URL/services/oauth2/token" -d grant_type=password -d "client_id=$ID" -d "client_secret=$SECRET" \
      --data-urlencode "username=$NAME" --data-urlencode "password=$WORD" | member access_token)
    auth="Authorization: Bearer $token"
    data=$URL/services/data/v66.0
    ask() { curl -fsS -H "$auth" -H 'Content-Type: application/json' "$@"; }

    page=$(ask -G "$data/query" --data-urlencode 'q=SELECT Id, LastName FROM Contact ORDER BY Id')
    echo "total=$(echo "$page" | member totalSize)"
    count=0
    while :; do
      count=$((count + $(echo "$page" | grep -o '"Id"' | wc -l)))
      next=$(echo "$page" | member nextRecordsUrl)
      [ -n "$next" ] || break
      page=$(ask "$URL$next")
    done
    echo "records=$count"

    id=$(ask "$data/sobjects/Contact" -d '{"LastName":"Curl","FirstName":"C."}' | member id)
    ask -X PATCH "$data/sobjects/Contact/$id" -d '{"Title":"Tester"}'
    echo "title=$(ask "$data/sobjects/Contact/$id?fields=Title" | member Title)"
    ask -X DELETE "$data/sobjects/Contact/$id"
    echo "gone=$(curl -sS -o /dev/null -w '%{http_code}' -H "$auth" "$data/sobjects/Contact/$id")"
    echo "refused=$(curl -sS -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer wrong' "$data/limits")"
    echo "malformed=$(curl -sS -G -H "$auth" "$data/query" --data-urlencode 'q=SELEC Id' | member errorCode)"
    """#

  @Test func curl_signsInQueriesCreatesUpdatesAndDeletes() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place)
    let ended = try await place.run(
      "/bin/bash", ["-c", Self.session],
      environment: [
        "URL": sandbox.url, "ID": sandbox.clientId, "SECRET": sandbox.clientSecret, "NAME": sandbox.username,
        "WORD": sandbox.password,
      ])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(
      ended.output == """
        total=5000
        records=5000
        title=Tester
        gone=404
        refused=401
        malformed=MALFORMED_QUERY

        """)
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func sandbox_started_printsHowToSignInAndKeepsItPrivate() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--contacts", "10", "--accounts", "2"])
    let printed = sandbox.child.printed
    for secret in [sandbox.url, sandbox.username, sandbox.password, sandbox.clientId, sandbox.clientSecret] {
      #expect(printed.contains(secret))
    }
    var info = stat()
    #expect(stat(place.home + "/sandbox/credentials.json", &info) == 0)
    #expect(info.st_mode & 0o777 == 0o600)
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
    #expect(!FileManager.default.fileExists(atPath: place.home + "/sandbox/credentials.json"), "nobody serves it any more")
  }

  @Test func sandbox_portInUse_is69() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--contacts", "1"])
    let port = String(sandbox.url.split(separator: ":").last ?? "")
    let other = try Workplace()
    let ended = try await other.run(Built.tureen, ["sandbox", "--home", other.home, "--port", port, "--contacts", "1"])
    #expect(ended.status == 69)
    #expect(ended.errors.contains("sandbox org cannot be started"))
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
  }
}
