import Foundation
import Glibc
import Testing

/// Tests `tureen sandbox` with custom files: objects, records, certificates.
@Suite struct SandboxFilesTests {
  private static let schema = #"""
    {"objects": [{"name": "Visit__c", "label": "Visit", "nameField": {"format": "V-{0000}", "start": 1}, "fields": [
      {"name": "Contact__c", "type": "reference", "referenceTo": ["Contact"], "children": "Visits__r"},
      {"name": "Minutes__c", "type": "int", "precision": 4, "required": true}]}]}
    """#
  private static let accounts = #"""
    {"Account": [{"Name": "Acme", "External_Id__c": "a1"}],
     "Contact": [{"LastName": "Lovelace", "External_Id__c": "c1", "Account": {"External_Id__c": "a1"}}],
     "Visit__c": [{"Minutes__c": 25, "Contact__r": {"External_Id__c": "c1"}}]}
    """#
  private static let contacts = "LastName,Email,Account.External_Id__c\nHopper,grace@example.org,a1\n\"Curie, M.\",,\n"

  /// The beginning of the scripts. `CA` is empty without TLS.
  private static let prelude = #"""
    set -eu
    member() { sed -n "s/.*\"$1\" *: *\"\{0,1\}\([^\",}]*\)\"\{0,1\}.*/\1/p" | head -1; }
    curl() { command curl -sS ${CA:+--cacert "$CA"} --compressed "$@"; }
    token=$(curl "$URL/services/oauth2/token" -d grant_type=password -d "client_id=$ID" -d "client_secret=$SECRET" \
      --data-urlencode "username=$NAME" --data-urlencode "password=$WORD" | member access_token)
    data=$URL/services/data/v66.0
    ask() { curl -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"; }
    query() { ask -G "$data/query" --data-urlencode "q=$1"; }

    """#

  private func run(_ script: String, _ sandbox: Sandbox, _ place: Workplace) async throws -> Child.Ended {
    try await place.run(
      "/bin/bash", ["-c", Self.prelude + script],
      environment: [
        "URL": sandbox.url, "ID": sandbox.clientId, "SECRET": sandbox.clientSecret, "NAME": sandbox.username,
        "WORD": sandbox.password, "CA": sandbox.authority ?? "",
      ])
  }

  private func stop(_ sandbox: Sandbox) async {
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func sandbox_schemaAndSeeds_areServedAndRemembered() async throws {
    let place = try Workplace()
    let schema = try place.write(Self.schema, to: "visits.json")
    let first = try place.write(Self.accounts, to: "first.json"), second = try place.write(Self.contacts, to: "Contact.csv")
    let script = #"""
      echo "prefix=$(ask "$data/sobjects/Visit__c/describe" | member keyPrefix)"
      echo "contacts=$(query 'SELECT COUNT() FROM Contact' | member totalSize)"
      echo "company=$(query "SELECT Account.Name FROM Contact WHERE Email = 'grace@example.org'" | member Name)"
      echo "minutes=$(query "SELECT Minutes__c FROM Visit__c WHERE Contact__r.LastName = 'Lovelace'" | member Minutes__c)"
      echo "refused=$(ask "$data/sobjects/Visit__c" -d '{}' | member errorCode)"
      """#
    let expected = "prefix=a00\ncontacts=3\ncompany=Acme\nminutes=25\nrefused=REQUIRED_FIELD_MISSING\n"
    // The second time the org exists: it has its objects, and no seed is loaded again.
    for options in [["--schema", schema, "--seed", first, "--seed", second], ["--seed", second]] {
      let sandbox = try await Sandbox(place, options: options)
      let ended = try await run(script, sandbox, place)
      #expect(ended.output == expected, "\(ended.errors)")
      await stop(sandbox)
    }
  }

  @Test(
    arguments: [
      (
        "--schema", "visits.json", #"{"objects": [{"name": "Visit__c", "fields": [{"name": "A__c", "type": "colour"}]}]}"#,
        "colour"
      ),
      ("--schema", "visits.json", #"{"objects": "#, "visits.json"),
      ("--seed", "Nothing__c.csv", "Name\nA\n", "Nothing__c"),
      ("--seed", "Contact.csv", "LastName,Email\nA,\nB,nowhere\n", "Contact.csv:3"),
      ("--seed", "records.txt", "", "records.txt"),
    ])
  func sandbox_badFile_is69AndNamed(option: String, name: String, text: String, reason: String) async throws {
    let place = try Workplace()
    let file = try place.write(text, to: name)
    let ended = try await place.run(Built.tureen, ["sandbox", "--home", place.home, option, file])
    #expect(ended.status == 69 && ended.errors.contains(reason), "\(ended.errors)")
    #expect(ended.errors.contains("sandbox org cannot be started"))
  }

  @Test func curl_overTLS_signsInReadsCompressedAndLoadsInBulk() async throws {
    let place = try Workplace()
    let first = try place.write(Self.accounts, to: "first.json"), schema = try place.write(Self.schema, to: "visits.json")
    let sandbox = try await Sandbox(place, options: ["--tls", "--schema", schema, "--seed", first])
    #expect(sandbox.url.hasPrefix("https://") && sandbox.authority != nil)
    #expect(!FileManager.default.fileExists(atPath: place.home + "/sandbox/credentials.json"))
    let ended = try await run(
      #"""
      command curl -s "$URL/services/data" || echo "untrusted=$?"
      echo "coding=$(ask -D - -o /dev/null "$data/sobjects/Contact/describe" | tr -d '\r' | sed -n 's/^content-encoding: //Ip')"
      echo "prefix=$(ask "$data/sobjects/Contact/describe" | member keyPrefix)"
      ask "$data/sobjects/Account" -H 'Content-Encoding: gzip' --data-binary @<(echo '{"Name":"Packed"}' | gzip) >/dev/null
      echo "packed=$(query "SELECT COUNT() FROM Account WHERE Name = 'Packed'" | member totalSize)"

      job=$(ask "$data/jobs/ingest" \
        -d '{"object":"Contact","operation":"upsert","externalIdFieldName":"External_Id__c"}' | member id)
      printf 'External_Id__c,LastName,Account.External_Id__c\nc1,King,\nc2,Noether,a1\nc3,,\n' |
        curl -X PUT -H "Authorization: Bearer $token" -H 'Content-Type: text/csv' --data-binary @- "$data/jobs/ingest/$job/batches"
      ask -o /dev/null -X PATCH "$data/jobs/ingest/$job" -d '{"state":"UploadComplete"}'
      finished() { for try in $(seq 500); do [ "$(ask "$1" | member state)" != JobComplete ] || return 0; done; return 1; }
      finished "$data/jobs/ingest/$job"
      echo "failed=$(ask "$data/jobs/ingest/$job" | member numberRecordsFailed)"
      echo "written=$(ask "$data/jobs/ingest/$job/successfulResults" | cut -d, -f2- | tr '\n' ';')"
      echo "error=$(ask "$data/jobs/ingest/$job/failedResults" | sed -n '2s/.*"\(REQ[A-Z_]*\):.*/\1/p')"

      job=$(ask "$data/jobs/query" \
        -d '{"operation":"query","query":"SELECT LastName, Account.Name FROM Contact ORDER BY LastName"}' | member id)
      finished "$data/jobs/query/$job"
      ask "$data/jobs/query/$job/results"
      """#, sandbox, place)
    #expect(ended.errors == "" && ended.status == 0)
    #expect(
      ended.output == """
        untrusted=60
        coding=gzip
        prefix=003
        packed=1
        failed=1
        written="sf__Created","External_Id__c","LastName","Account.External_Id__c";"false","c1","King","";"true","c2","Noether","a1";
        error=REQUIRED_FIELD_MISSING
        "LastName","Account.Name"
        "King","Acme"
        "Noether","Acme"

        """)
    await stop(sandbox)
  }
}
