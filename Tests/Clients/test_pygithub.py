"""PyGithub, unchanged, against the forge of `tureen sandbox`: what it reads and writes, pages, limits and errors."""

import struct
import unittest
import zlib

import requests
from github import Auth, BadCredentialsException, Github, GithubException, GithubRetry, RateLimitExceededException
from github import UnknownObjectException

from sandbox import Sandbox


def setUpModule():
    global sandbox
    # PyGithub asks often; how the secondary limit refuses it has a test of its own.
    sandbox = Sandbox("--contacts", "1", "--accounts", "1", "--forge", "pointsPerMinute=0 writesPerMinute=0")


def tearDownModule():
    sandbox.stop()


def client(login="ada", **options):
    options.setdefault("retry", None)
    auth = Auth.Token(sandbox.tokens[login]) if login else None
    # PyGithub's session follows REQUESTS_CA_BUNDLE of the machine when it is not told what to trust.
    return Github(base_url=sandbox.forge, auth=auth, verify=sandbox.authority, seconds_between_requests=0,
                  seconds_between_writes=0, **options)


class ForgeTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sandbox.control("reset")
        cls.github = client()
        cls.acme = cls.github.get_organization("acme")

    def setUp(self):
        self.addCleanup(self.settings)

    def settings(self, **changes):
        defaults = {"links": "absolute", "linkQuotes": True, "linkLines": False, "paging": "page", "largestPage": 100,
                    "linkExtras": False, "limitStatus": 403, "signedInRequests": 5_000, "computing": 0}
        sandbox.control("forge", **{**defaults, **changes})

    def first(self):
        return self.github.get_repo(1296269)


class ReadingTests(ForgeTests):
    def test_repositories_over_pages(self):
        orchard = client("ben").get_organization("orchard").get_repos(sort="full_name")
        self.assertEqual(orchard.totalCount, 250)
        names = [repository.full_name for repository in orchard]
        self.assertEqual((len(set(names)), names), (250, sorted(names)))
        self.assertTrue(all(repository.id > 2**53 for repository in orchard[:40]))
        backwards = [repository.full_name for repository in orchard.reversed]
        self.assertEqual(backwards, names[::-1])

    def test_large_pages(self):
        harbor = client("cleo", per_page=100).get_organization("harbor").get_repos("all")
        self.assertEqual(len({repository.id for repository in harbor}), 12_000)

    def test_one_repository(self):
        repository = self.first()
        same = self.github.get_repo(repository.full_name)
        self.assertEqual((same.id, same.owner.login, same.organization), (1296269, "acme", None))
        self.assertEqual(same.raw_data["url"], f"{sandbox.forge}/repos/{repository.full_name}")
        self.assertEqual(same.created_at.isoformat(), "2015-01-01T00:00:00+00:00")
        self.assertEqual(same.open_issues_count, same.get_issues().totalCount)
        self.assertTrue(same.permissions.admin)
        self.assertFalse(client("ben").get_repo(1296269).permissions.admin)

    def test_issues(self):
        repository = self.first()
        every = list(repository.get_issues(state="all", sort="updated", direction="asc"))
        self.assertEqual(len(every), 120)
        stamps = [issue.updated_at for issue in every]
        self.assertEqual(stamps, sorted(stamps))
        since = repository.get_issues(state="all", sort="updated", direction="asc", since=stamps[100])
        self.assertEqual([issue.number for issue in since], [issue.number for issue in every[100:]])
        pulls = [issue for issue in every if issue.pull_request]
        self.assertEqual({issue.number % 4 for issue in pulls}, {0})
        self.assertEqual([comment.body for comment in repository.get_issue(2).get_comments()],
                         ["Comment 1 on 2.", "Comment 2 on 2."])

    def test_accounts(self):
        self.assertEqual(self.github.get_user().login, "ada")
        self.assertEqual([user.login for user in self.github.get_users()], ["acme", "orchard", "harbor", "ada", "ben", "cleo"])
        self.assertEqual([user.login for user in self.github.get_users(since=101)], ["ben", "cleo"])
        self.assertEqual([organization.login for organization in self.github.get_organizations()], ["acme", "orchard", "harbor"])
        self.assertEqual((self.acme.public_repos, self.acme.type), (27, "Organization"))

    def test_avatar_is_a_picture(self):
        answer = requests.get(self.acme.avatar_url, verify=sandbox.authority)
        self.assertEqual((answer.status_code, answer.headers["Content-Type"]), (200, "image/png"))
        data, chunks = answer.content[8:], {}
        while data:
            length, name = struct.unpack(">I4s", data[:8])
            content = data[8:8 + length]
            self.assertEqual(struct.unpack(">I", data[8 + length:12 + length])[0], zlib.crc32(name + content))
            chunks[name], data = content, data[12 + length:]
        width, height, depth, color = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
        self.assertEqual((width, height, depth, color, list(chunks)), (80, 80, 8, 2, [b"IHDR", b"IDAT", b"IEND"]))
        self.assertEqual(len(zlib.decompress(chunks[b"IDAT"])), height * (width * 3 + 1))

    def test_search(self):
        found = self.github.search_repositories("org:acme language:swift", sort="stars")
        self.assertEqual(found.totalCount, len([r for r in self.acme.get_repos() if r.language == "Swift"]))
        self.assertTrue(all(issue.state == "open" for issue in self.github.search_issues("org:acme is:open is:pr")))


class PagingTests(ForgeTests):
    def test_links_in_other_forms(self):
        expected = [repository.id for repository in self.acme.get_repos(sort="created")]
        for changes in [{"links": "ids"}, {"linkLines": True}, {"paging": "cursor"}]:
            with self.subTest(changes):
                self.settings(largestPage=7, **changes)
                self.assertEqual([repository.id for repository in self.acme.get_repos(sort="created")], expected)

    def test_list_that_is_being_computed(self):
        self.settings(computing=1)
        self.assertEqual(len(list(self.acme.get_repos())), 30)


class WritingTests(ForgeTests):
    def test_issue_is_created_edited_and_closed(self):
        repository = self.first()
        issue = repository.create_issue("Broken", body="Äpfel ☃", labels=["bug"])
        self.assertEqual((issue.number, issue.user.login, issue.labels[0].name), (121, "ada", "bug"))
        comment = issue.create_comment("Seen.")
        comment.edit("Seen again.")
        issue.edit(title="Mended", state="closed", state_reason="not_planned")
        again = repository.get_issue(121)
        self.assertEqual((again.title, again.body, again.state, again.state_reason), ("Mended", "Äpfel ☃", "closed", "not_planned"))
        self.assertEqual([found.body for found in again.get_comments()], ["Seen again."])
        comment.delete()
        self.assertEqual(repository.get_issue(121).comments, 0)

    def test_repository_is_created_edited_renamed_and_deleted(self):
        made = self.acme.create_repo("fresh", description="first", private=True)
        self.assertEqual((made.full_name, made.private), ("acme/fresh", True))
        made.edit(description="second", has_wiki=False)
        self.assertEqual(self.github.get_repo("acme/fresh").description, "second")
        made.edit(name="renamed")
        self.assertEqual(self.github.get_repo("acme/fresh").full_name, "acme/renamed", "by a redirect")
        made.delete()
        with self.assertRaises(UnknownObjectException):
            self.github.get_repo("acme/renamed")

    def test_refusals(self):
        with self.assertRaises(GithubException) as caught:
            self.acme.create_repo(self.first().name)
        self.assertEqual((caught.exception.status, caught.exception.data["errors"][0]["code"]), (422, "custom"))
        with self.assertRaises(GithubException) as caught:
            client("ben").get_repo(1296269).edit(description="x")
        self.assertEqual(caught.exception.status, 403)
        with self.assertRaises(UnknownObjectException):
            client(None).get_repo([r for r in self.acme.get_repos("private")][0].full_name)


class LimitTests(ForgeTests):
    def test_rate_limit(self):
        limit = self.github.get_rate_limit()
        self.assertEqual((limit.rate.limit, limit.resources.search.limit), (5_000, 30))
        before = limit.rate.remaining
        self.github.get_organization("acme")
        self.assertEqual(self.github.get_rate_limit().rate.remaining, before - 1)
        self.assertEqual(self.github.rate_limiting, (before - 1, 5_000))

    def test_conditional_requests_are_free(self):
        repository = self.first()
        self.assertTrue(repository.etag.startswith('W/"'))
        before = self.github.get_rate_limit().rate.remaining
        self.assertFalse(repository.update())
        self.assertEqual(self.github.get_rate_limit().rate.remaining, before)
        client().get_repo(1296269).edit(description="changed elsewhere")
        self.assertTrue(repository.update())
        self.assertEqual(repository.description, "changed elsewhere")

    def test_primary_limit(self):
        self.settings(signedInRequests=1)
        with self.assertRaises(RateLimitExceededException):
            for _ in range(2):
                self.github.get_organization("acme")

    def test_secondary_limit_is_waited_for(self):
        sandbox.control("addFault", kind="secondaryLimit", retryAfter=0, path="/api/v3/orgs/*", times=1)
        self.addCleanup(sandbox.control, "clearFaults")
        sandbox.control("clearRequests")
        self.assertEqual(client(retry=GithubRetry(total=2)).get_organization("acme").login, "acme")
        self.assertEqual([entry["status"] for entry in sandbox.control("requests", path="/api/v3/**")], [403, 200])

    def test_server_errors_are_tried_again(self):
        sandbox.control("addFault", kind="serverError", status=502, path="/api/v3/orgs/*", times=1)
        self.addCleanup(sandbox.control, "clearFaults")
        self.assertEqual(client(retry=GithubRetry(total=2)).get_organization("acme").login, "acme")

    def test_bad_credentials(self):
        wrong = Github(base_url=sandbox.forge, auth=Auth.Token("ghp_wrong"), verify=sandbox.authority, retry=None)
        with self.assertRaises(BadCredentialsException):
            wrong.get_user().login


if __name__ == "__main__":
    unittest.main()
